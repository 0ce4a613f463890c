import { parsedOrThrow } from "../../../kube/parsed.ts";
import { allow } from "../../../runtime/permission.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";
import { manifestKinds, parseManifest } from "./manifest-text.ts";

/** Server-side apply of one object, under the action's own field manager and without force: foreign fields stay theirs. */
export const applyManifest = defineAction({
  action: "apply_manifest",
  permissions: manifestKinds.map((kind) => allow(kind, ["get", "create", "patch"])),
  idempotent: true,
  estimatedDuration: "10s",
  seenBy: "Read",
  mayCreate: true,
  problems({ manifest }) {
    const read = parseManifest(manifest);
    return read.ok ? [] : [`manifest: ${read.message}`];
  },
  target({ manifest }) {
    const { kind, object } = parsedOrThrow(parseManifest(manifest));
    return { kind, namespace: object.metadata.namespace, name: object.metadata.name };
  },
  plan({ object }, { manifest }) {
    return {
      effects: [{ kind: "Apply", object: parsedOrThrow(parseManifest(manifest)).object }],
      verb: object === undefined ? "created" : "configured",
      before: object === undefined ? "not there" : `generation: ${object.metadata.generation ?? 0}`,
    };
  },
  rollback: ({ object }) =>
    cannotBeUndone(
      object === undefined
        ? "The object was not there before; delete it to undo this."
        : "Fields that were applied cannot be given back to their earlier owners.",
    ),
});
