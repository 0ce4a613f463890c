import { parseJson } from "../../kube/json.ts";
import { parseYaml } from "../../kube/yaml.ts";
import { StatusError, unsupportedMediaType } from "../protocol/status-error.ts";
import { parseProblem } from "./type-meta.ts";

/** A body as plain JSON, and which of its fields were given twice. */
export interface DecodedBody {
  readonly value: unknown;
  readonly duplicates: readonly string[];
  /** In YAML, with their lines: `line 3: key "name" already set in map`. */
  readonly yamlDuplicates?: readonly string[];
  /** The JSON that was read, for whoever asks in which order its fields stand. */
  readonly text?: string;
}

export type BodyProblem = { readonly kind: "Unreadable"; readonly why: string };

const readableTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const maxDepth = 1000;

export const mediaTypeOf = (contentType: string | undefined): string =>
  (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

/** Reads a JSON or YAML body. Protobuf is read by whoever knows the built-in kinds. */
export function decodeBody(body: Uint8Array | undefined, contentType: string | undefined): DecodedBody | BodyProblem {
  switch (mediaTypeOf(contentType)) {
    case "":
    case "*/*":
    case "application/json":
    // What `curl -d` sends when nobody says otherwise; the real server takes it for JSON as well.
    case "application/x-www-form-urlencoded":
      return typedJson(body ?? new Uint8Array());
    case "application/yaml":
      return decodeYaml(Buffer.from(body ?? []).toString());
    default:
      throw unsupportedMediaType(readableTypes);
  }
}

function typedJson(body: Uint8Array): DecodedBody | BodyProblem {
  const read = decodeJson(body);
  return "kind" in read ? { kind: "Unreadable", why: `${parseProblem}${read.why}` } : read;
}

export function decodeJson(body: Uint8Array): DecodedBody | BodyProblem {
  const parsed = parseJson(body, { maxDepth });
  if (!parsed.ok) return { kind: "Unreadable", why: parsed.problem.message };
  if (parsed.inexactIntegers.length > 0) {
    throw new StatusError(
      400,
      "BadRequest",
      `${parsed.inexactIntegers.join(", ")}: integers beyond 2^53 cannot be stored exactly`,
    );
  }
  const { value, duplicates } = parsed;
  return duplicates.length === 0 ? { value, duplicates } : { value, duplicates, text: Buffer.from(body).toString() };
}

/** YAML 1.1 as Go's tools read it, its first document alone; JSON is YAML, and much faster to read as JSON. */
export function decodeYaml(text: string): DecodedBody | BodyProblem {
  if (text.trimStart().startsWith("{")) {
    const asJson = parseJson(text, { maxDepth });
    if (asJson.ok) return { value: asJson.value, duplicates: asJson.duplicates };
  }
  const parsed = parseYaml(text, { file: "the body", duplicateKeys: "report", maxDocuments: 1 });
  if (!parsed.ok) {
    const [problem] = parsed.problems;
    return {
      kind: "Unreadable",
      why: `yaml: ${problem?.message.replace("the body: document 1, ", "") ?? "unreadable"}`,
    };
  }
  const [document] = parsed.documents;
  if (document === undefined) return { value: null, duplicates: [] };
  const yamlDuplicates = document.duplicates.map(
    ({ key, line }) => `line ${line}: key ${JSON.stringify(key)} already set in map`,
  );
  return { value: document.value, duplicates: [], ...(yamlDuplicates.length > 0 && { yamlDuplicates }) };
}
