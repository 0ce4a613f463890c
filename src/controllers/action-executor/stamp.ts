import type { JsonPatchOperation, Patch } from "../../client/client.ts";
import type { KubeObject } from "../../kube/object.ts";

/**
 * Every effect leaves its token on its target, in the same write. A pod that is started twice finds it and does nothing
 * (F47, P9). A few are kept, so that the token of a slow twin is still there after another execution has come by.
 */
export const stampAnnotation = "kubernaut.io/executions";
const stampsKept = 16;

export const isStamped = (object: KubeObject, token: string): boolean => stampsOf(object).includes(token);

const stampsOf = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.annotations?.[stampAnnotation] ?? "").split(",").filter((token) => token !== "");

/** The patch for exactly the object and version that it was planned for, without a token. */
export function pinned(patch: Patch, object: KubeObject | undefined): Patch {
  const { uid, resourceVersion } = object?.metadata ?? {};
  if (uid === undefined) return patch;
  if (patch.type === "json") return { type: "json", operations: [...tests(uid, resourceVersion), ...patch.operations] };
  const value = patch.value as { readonly metadata?: object };
  return { type: patch.type, value: { ...value, metadata: { ...value.metadata, uid, resourceVersion } } };
}

/** The patch with the token in it, for exactly the object and version that it was planned for. */
export function stamped(patch: Patch, object: KubeObject | undefined, token: string): Patch {
  const stamps = [...(object ? stampsOf(object) : []), token].slice(-stampsKept).join(",");
  if (patch.type !== "json") {
    const value = patch.value as { readonly metadata?: { readonly annotations?: object } };
    const { uid, resourceVersion } = object?.metadata ?? {};
    const metadata = {
      ...value.metadata,
      ...(uid !== undefined && { uid, resourceVersion }),
      annotations: { ...value.metadata?.annotations, [stampAnnotation]: stamps },
    };
    return { type: patch.type, value: { ...value, metadata } };
  }
  const { uid, resourceVersion, annotations } = object?.metadata ?? {};
  const operations: JsonPatchOperation[] = [
    ...tests(uid, resourceVersion),
    ...(annotations === undefined ? [{ op: "add" as const, path: "/metadata/annotations", value: {} }] : []),
    ...patch.operations,
    { op: "add", path: `/metadata/annotations/${stampAnnotation.replaceAll("/", "~1")}`, value: stamps },
  ];
  return { type: "json", operations };
}

const tests = (uid: string | undefined, resourceVersion: string | undefined): readonly JsonPatchOperation[] => [
  ...(uid === undefined ? [] : [{ op: "test" as const, path: "/metadata/uid", value: uid }]),
  ...(resourceVersion === undefined
    ? []
    : [{ op: "test" as const, path: "/metadata/resourceVersion", value: resourceVersion }]),
];
