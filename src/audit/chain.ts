import { createHash } from "node:crypto";
import { type AuditEntry, type AuditRecord, objectText } from "./entry.ts";
import { redact, redactText } from "./redact.ts";

/** What the first row follows. */
export const genesisHash: string = sha256("capstan audit trail, version 1");

/** The row that a record becomes behind the given one. */
export function chained(record: AuditRecord, sequence: number, previousHash: string): AuditEntry {
  const { id, time, actor, verb, object, result, details = {} } = record;
  const text = canonicalJson(redact(details));
  const entry = {
    sequence,
    id,
    time: time.toISOString(),
    actor,
    verb,
    kind: object.kind,
    namespace: object.namespace ?? "",
    name: object.name,
    uid: object.uid ?? "",
    result: redactText(result),
    details:
      text.length <= maxDetailsLength
        ? text
        : canonicalJson({ cut: `${text.length} characters`, sha256: sha256(text) }),
    previousHash,
  };
  if (text.includes("\0") || Object.values(entry).some((value) => typeof value === "string" && value.includes("\0")))
    throw new RangeError(`an audit row about ${objectText(object)} may not contain a NUL character`);
  return { ...entry, hash: hashOf(entry) };
}

export const hashOf = (entry: Omit<AuditEntry, "hash">): string =>
  sha256(
    JSON.stringify([
      entry.sequence,
      entry.id,
      entry.time,
      entry.actor,
      entry.verb,
      entry.kind,
      entry.namespace,
      entry.name,
      entry.uid,
      entry.result,
      entry.details,
      entry.previousHash,
    ]),
  );

/** The same value always gives the same text: members are sorted, and what JSON cannot say is left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** A row tells what happened; it is no place for whole objects. */
const maxDetailsLength = 16_384;

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
