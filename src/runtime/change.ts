import type { KubeObject } from "../kube/object.ts";

/** What happened to one cached object, as its handlers learn it. */
export type Change<T extends KubeObject = KubeObject> =
  | { readonly kind: "Added"; readonly object: T; readonly origin: Origin }
  | { readonly kind: "Updated"; readonly object: T; readonly old: T; readonly origin: Origin }
  | {
      readonly kind: "Deleted";
      /** The last state that we know. */
      readonly object: T;
      /** The deletion itself was not seen, so the object may have changed further before it went. */
      readonly finalStateUnknown: boolean;
      readonly origin: Origin;
    };

/** `Initial`: was there before the handler came; `List`: found by comparing with a later list; `Watch`: seen happen. */
export type Origin = "Initial" | "List" | "Watch";

export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;
