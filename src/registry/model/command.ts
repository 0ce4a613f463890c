import type { Instance } from "./instance.ts";
import type { NewServiceTarget, ServiceHealth } from "./service.ts";

/** Everything that can change what is durable. A heartbeat of a service in good standing is not among it. */
export type Command =
  | { readonly kind: "Register"; readonly target: NewServiceTarget; readonly newId: string; readonly by: Identity }
  | { readonly kind: "Deregister"; readonly id: string; readonly by: Identity }
  | {
      readonly kind: "Report";
      readonly id: string;
      readonly health: ServiceHealth;
      readonly reason: string;
      readonly timestamp: string | null;
      readonly by: Identity;
    }
  /** A heartbeat that changes something: the first one, or one of a service believed to be gone. */
  | { readonly kind: "Return"; readonly id: string; readonly by: Identity }
  /** Taken out by a person's clean-up; a heartbeat brings it back. */
  | { readonly kind: "Remove"; readonly id: string; readonly by: Identity }
  | { readonly kind: "Probed"; readonly id: string; readonly health: ServiceHealth; readonly reason: string }
  /** Time has passed: whatever is due for this instance happens. */
  | { readonly kind: "CheckExpiry"; readonly id: string };

/** Who asks. */
export interface Identity {
  /** Empty where nobody has to say who they are. */
  readonly name: string;
  readonly namespace: string | null;
  /** May act on what others own. */
  readonly isAdministrator: boolean;
}

/** Where the registry is open, everyone may do everything. */
export const anyone: Identity = { name: "", namespace: null, isAdministrator: true };

export type Answer =
  | { readonly kind: "Done"; readonly instance: Instance }
  /** No such service; nothing was done. */
  | { readonly kind: "Unknown" }
  | { readonly kind: "Refused"; readonly reason: RefusalReason; readonly message: string };

export type RefusalReason = "NotOwner" | "NameTaken" | "TooManyServices";
