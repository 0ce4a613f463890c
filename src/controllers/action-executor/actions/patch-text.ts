import type { JsonPatchOperation, Patch } from "../../../client/client.ts";
import { type Parsed, parsed, refused } from "../../../kube/parsed.ts";
import { parseYaml } from "../../../kube/yaml.ts";

/** A patch as people write it, in JSON or YAML, read once and strictly. */
export function parsePatch(type: Patch["type"], text: string): Parsed<Patch> {
  const yaml = parseYaml(text, { file: "patch", maxBytes: patchMaxBytes });
  if (!yaml.ok) return refused(yaml.problems.map(({ message }) => message).join("; "));
  const [document, ...more] = yaml.documents;
  if (document === undefined || more.length > 0) return refused("one document is expected");
  const { value } = document;
  if (type === "json") {
    if (!Array.isArray(value) || !value.every(isOperation)) return refused("a JSON patch is a list of operations");
    return parsed({ type, operations: value as readonly JsonPatchOperation[] });
  }
  if (!isRecord(value)) return refused("a patch is an object");
  return parsed({ type, value });
}

/** What a patch may not touch: who the object is, who owns it, and what keeps it. */
export function forbiddenParts(patch: Patch): readonly string[] {
  if (patch.type === "json")
    return patch.operations
      .flatMap((operation) => ("from" in operation ? [operation.path, operation.from] : [operation.path]))
      .filter((path) => !allowedPath.test(path))
      .map((path) => `${path || "/"} may not be patched; only metadata/labels, metadata/annotations and spec may`);
  const value = patch.value as Readonly<Record<string, unknown>>;
  const metadata = isRecord(value["metadata"]) ? Object.keys(value["metadata"]) : [];
  return [
    ...Object.keys(value)
      .filter((key) => key !== "metadata" && key !== "spec" && key !== "apiVersion" && key !== "kind")
      .map((key) => `${key} may not be patched; only metadata and spec may`),
    ...metadata
      .filter((key) => key !== "labels" && key !== "annotations")
      .map((key) => `metadata.${key} may not be patched; only labels and annotations may`),
    ...("metadata" in value && !isRecord(value["metadata"]) ? ["metadata must be an object"] : []),
  ];
}

const allowedPath = /^\/(spec(\/|$)|metadata\/(labels|annotations)\/[^/]+$)/;

export const patchMaxBytes = 512 * 1024;

const isOperation = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value["path"] === "string" &&
  ["add", "remove", "replace", "move", "copy", "test"].includes(String(value["op"])) &&
  (!["move", "copy"].includes(String(value["op"])) || typeof value["from"] === "string");

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
