import type { KubeObject } from "../../kube/object.ts";
import { decodeJson } from "./decode.ts";
import { type Draft, finished } from "./draft.ts";
import { wireStructOf } from "./wire-types.ts";

/** A body read as a built-in kind, or the whole message of the 400 that the real server answers. */
export type ShapedBody =
  | { readonly kind: "Shaped"; readonly object: KubeObject; readonly unknownFields: readonly string[] }
  | { readonly kind: "Refused"; readonly message: string };

/** Whether the kind is built in: served, or a body that travels in requests. */
export const isKnownKind = (apiVersion: string, kind: string): boolean => wireStructOf(apiVersion, kind) !== undefined;

/** Nothing when the kind is not built in. The value is plain JSON; apiVersion and kind are those that the body names. */
export function decodeBuiltin(apiVersion: string, kind: string, value: unknown): ShapedBody | undefined {
  const struct = wireStructOf(apiVersion, kind);
  if (!struct) return undefined;
  const { object, unknownFields, error } = decodeJson(struct, value);
  if (error === undefined) return { kind: "Shaped", object: finished(object as Draft), unknownFields };
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  return { kind: "Refused", message: `${kind} in version "${version}" cannot be handled as a ${kind}: ${error}` };
}
