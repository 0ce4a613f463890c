import { invalid as invalidField } from "../../kube/field-error.ts";
import type { KubeObject, ObjectMeta } from "../../kube/object.ts";
import type { CompiledSchema } from "../../kube/schema/compile.ts";
import { decodeBuiltin } from "../builtin/index.ts";
import type { Endpoint, Shaped } from "../endpoint.ts";
import { invalid } from "../protocol/status-error.ts";
import { isPlainMetadata } from "./plain-metadata.ts";

/** A body read as a custom resource: metadata is typed as everywhere, the rest is what the schema says. */
export function shapeCustom(
  endpoint: Endpoint,
  schema: CompiledSchema,
  value: Readonly<Record<string, unknown>>,
): Shaped {
  const { kind, group, version } = endpoint.resource;
  const typed = isPlainMetadata(value["metadata"])
    ? { kind: "Shaped" as const, object: { metadata: value["metadata"] } }
    : decodeBuiltin("v1", "ConfigMap", { metadata: value["metadata"] });
  if (typed?.kind === "Refused") {
    const [, why = typed.message] = /cannot be handled as a ConfigMap: (.*)$/s.exec(typed.message) ?? [];
    const text = why
      .replace("ObjectMeta.metadata.", "ObjectMeta.")
      .replace(/Go struct field ConfigMap\.metadata of type/, "Go value of type");
    return {
      kind: "Refused",
      message: `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${text}`,
    };
  }
  const metadata: ObjectMeta = typed?.object.metadata ?? ({} as ObjectMeta);
  if (value["kind"] !== kind) {
    const given = String(value["kind"]);
    throw invalid({ group, name: given }, metadata.name ?? "", [invalidField("kind", given, `must be ${kind}`)]);
  }
  const pruned = schema.prune({ ...value, metadata: value["metadata"] ?? {} });
  const object = { ...(pruned.value as KubeObject), metadata };
  return { kind: "Shaped", object, unknownFields: pruned.unknown };
}
