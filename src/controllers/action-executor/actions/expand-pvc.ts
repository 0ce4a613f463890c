import { PersistentVolumeClaim } from "../../../api/builtin/volume.ts";
import { compareQuantities, parseQuantity } from "../../../kube/quantity.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";

export const expandPvc = defineAction({
  action: "expand_pvc",
  permissions: [allow(PersistentVolumeClaim, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "5m",
  seenBy: "Read",
  problems({ size }) {
    const read = parseQuantity(size);
    if (!read.ok) return [`size: ${read.message}`];
    return read.value.nanos > 0n ? [] : ["size: must be more than nothing"];
  },
  target: ({ pvc, namespace }) => ({ kind: PersistentVolumeClaim, namespace, name: pvc }),
  objection({ object }, { size }) {
    const [current, wanted] = [parseQuantity(sizeOf(object)), parseQuantity(size)];
    if (!current.ok || !wanted.ok) return undefined;
    return compareQuantities(wanted.value, current.value) > 0
      ? undefined
      : `it has ${sizeOf(object)} already; volumes can only grow`;
  },
  plan: ({ object }, { size }) => ({
    effects: [
      { kind: "Patch", patch: { type: "merge", value: { spec: { resources: { requests: { storage: size } } } } } },
    ],
    verb: "expanded",
    before: `storage: ${sizeOf(object)}`,
    after: `storage: ${size}`,
  }),
  rollback: () => cannotBeUndone("Volumes can grow, but not shrink."),
});

function sizeOf(claim: PersistentVolumeClaim | undefined): string {
  const { resources } = (claim?.spec ?? {}) as { resources?: { requests?: Readonly<Record<string, unknown>> } };
  return String(resources?.requests?.["storage"] ?? "0");
}
