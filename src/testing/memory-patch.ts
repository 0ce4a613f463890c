import { Refusal } from "./memory-answers.ts";

/** RFC 7386: members are merged, null removes, everything else replaces. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatched(result[key], value);
  }
  return result;
}

/** RFC 6902, the operations that controllers use. */
export function jsonPatched(target: unknown, operations: readonly unknown[]): unknown {
  let document: unknown = structuredClone(target);
  for (const operation of operations) {
    const { op, path, value } = operation as { readonly op: string; readonly path: string; readonly value?: unknown };
    const tokens = path
      .split("/")
      .slice(1)
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    document = edited(document, tokens, op, value);
  }
  return document;
}

function edited(node: unknown, [head, ...rest]: readonly string[], op: string, value: unknown): unknown {
  if (head === undefined) {
    if (op === "test" && JSON.stringify(node) !== JSON.stringify(value)) throw rejected();
    return op === "test" ? node : value;
  }
  if (Array.isArray(node)) {
    const at = head === "-" ? node.length : Number(head);
    if (rest.length === 0 && op === "add") return node.toSpliced(at, 0, value);
    if (rest.length === 0 && op === "remove") return node.toSpliced(at, 1);
    if (!(at in node)) throw rejected();
    return node.with(at, edited(node[at], rest, op, value));
  }
  if (!isRecord(node)) throw rejected();
  if (rest.length === 0 && op === "remove") {
    if (!(head in node)) throw rejected();
    const { [head]: _, ...left } = node;
    return left;
  }
  if (rest.length === 0 && op === "add") return { ...node, [head]: value };
  if (!(head in node)) throw rejected();
  return { ...node, [head]: edited(node[head], rest, op, value) };
}

const rejected = (): Refusal =>
  new Refusal(422, "Invalid", "the server rejected our request due to an error in our request");

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
