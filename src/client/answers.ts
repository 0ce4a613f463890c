import { apiVersionOf, type KindRef } from "../kube/kind.ts";
import type { KubeList, KubeObject } from "../kube/object.ts";
import { MalformedAnswerError } from "./connection-error.ts";
import { type Answer, describe } from "./exchange.ts";
import type { ApiRequest } from "./requests.ts";

/** Reads answers: JSON at the edge, checked once for what every caller relies on, never quoted in an error. */
export function decodeObject<T extends KubeObject>(request: ApiRequest, answer: Answer): T {
  const value = decodeJson(request, answer);
  if (!isRecord(value)) throw malformed(request, "the answer is not an object");
  if (typeof value["kind"] !== "string") throw malformed(request, "kind: Required value");
  if (!isRecord(value["metadata"]) && value["kind"] !== "Status") throw malformed(request, "metadata: Required value");
  return value as unknown as T;
}

/** Items of built-in lists come without apiVersion and kind; here every object says what it is. */
export function decodeList<T extends KubeObject>(
  request: ApiRequest,
  answer: Answer,
  kind: KindRef<T>,
  metadataOnly: boolean,
): KubeList<T> {
  const value = decodeJson(request, answer);
  if (!isRecord(value)) throw malformed(request, "the answer is not an object");
  if (!isRecord(value["metadata"])) throw malformed(request, "metadata: Required value");
  // Go writes an empty list as null.
  const found = value["items"] ?? [];
  if (!Array.isArray(found)) throw malformed(request, "items: must be a list");
  const header = metadataOnly
    ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" }
    : { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const items = found.map((item: unknown, index) => {
    if (!isRecord(item) || !isRecord(item["metadata"]))
      throw malformed(request, `items[${index}].metadata: Required value`);
    if (typeof item["metadata"]["name"] !== "string")
      throw malformed(request, `items[${index}].metadata.name: Required value`);
    if (metadataOnly) return { ...header, metadata: item["metadata"] };
    return item["kind"] === header.kind && item["apiVersion"] === header.apiVersion ? item : { ...header, ...item };
  });
  return {
    apiVersion: typeof value["apiVersion"] === "string" ? value["apiVersion"] : header.apiVersion,
    kind: typeof value["kind"] === "string" ? value["kind"] : `${header.kind}List`,
    metadata: value["metadata"],
    items: items as unknown as readonly T[],
  };
}

/** Any answer: parsed when it is JSON, text otherwise, undefined when there is none. */
export function decodeAny(request: ApiRequest, answer: Answer): unknown {
  if (answer.body.length === 0) return undefined;
  return /\bjson\b/.test(answer.headers["content-type"] ?? "") ? decodeJson(request, answer) : textOf(answer.body);
}

function decodeJson(request: ApiRequest, answer: Answer): unknown {
  try {
    return JSON.parse(textOf(answer.body));
  } catch {
    const type = answer.headers["content-type"] ?? "no content type";
    throw malformed(request, `${answer.body.length} bytes (${type}) that are not JSON`);
  }
}

const malformed = (request: ApiRequest, problem: string): MalformedAnswerError =>
  new MalformedAnswerError(`${describe(request)}: ${problem}`);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
