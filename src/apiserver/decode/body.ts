import { type ParsedJson, parseJson } from "../../kube/json.ts";
import { parseYaml } from "../../kube/yaml.ts";
import { StatusError, unsupportedMediaType } from "../protocol/status-error.ts";

/** A body as plain JSON, and which of its fields were given twice. */
export interface DecodedBody {
  readonly value: unknown;
  readonly duplicates: readonly string[];
}

export type BodyProblem = { readonly kind: "Unreadable"; readonly why: string; readonly shown: string };

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
      return decodeJson(body ?? new Uint8Array());
    case "application/yaml":
      return decodeYaml(Buffer.from(body ?? []).toString());
    default:
      throw unsupportedMediaType(readableTypes);
  }
}

export function decodeJson(body: Uint8Array): DecodedBody | BodyProblem {
  const parsed = parseJson(body, { maxDepth });
  if (!parsed.ok) return unreadable(parsed, body);
  if (parsed.inexactIntegers.length > 0) {
    throw new StatusError(
      400,
      "BadRequest",
      `${parsed.inexactIntegers.join(", ")}: integers beyond 2^53 cannot be stored exactly`,
    );
  }
  return { value: parsed.value, duplicates: parsed.duplicates };
}

/** YAML 1.1 as Go's tools read it; JSON is YAML, and much faster to read as JSON. */
export function decodeYaml(text: string): DecodedBody | BodyProblem {
  if (text.trimStart().startsWith("{")) {
    const asJson = parseJson(text, { maxDepth });
    if (asJson.ok) return { value: asJson.value, duplicates: asJson.duplicates };
  }
  const parsed = parseYaml(text, { file: "the body" });
  if (!parsed.ok) {
    return {
      kind: "Unreadable",
      why: `yaml: ${parsed.problems[0]?.message ?? "unreadable"}`,
      shown: text.slice(0, 100),
    };
  }
  if (parsed.documents.length > 1) return { kind: "Unreadable", why: "yaml: more than one document", shown: "" };
  return { value: parsed.documents[0]?.value ?? null, duplicates: [] };
}

function unreadable(parsed: ParsedJson & { ok: false }, body: Uint8Array): BodyProblem {
  const { problem } = parsed;
  const shown = body.length === 0 ? "<empty>" : Buffer.from(body.subarray(0, 100)).toString();
  return { kind: "Unreadable", why: problem.message, shown };
}
