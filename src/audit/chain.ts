import { hash } from "node:crypto";
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
    hash: "",
  };
  const covered = coveredText(entry);
  // JSON spells a NUL as \u0000; only a text that has this spelling needs the closer look.
  if (covered.includes(String.raw`\u0000`) && Object.values(entry).some(hasNul))
    throw new RangeError(`an audit row about ${objectText(object)} may not contain a NUL character`);
  entry.hash = sha256(covered);
  return entry;
}

const hasNul = (value: unknown): boolean => typeof value === "string" && value.includes("\0");

export const hashOf = (entry: Omit<AuditEntry, "hash">): string => sha256(coveredText(entry));

/** Everything that a row's hash speaks for, in one spelling. */
const coveredText = (entry: Omit<AuditEntry, "hash">): string =>
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
  ]);

/** The same value always gives the same text: members are sorted, and what JSON cannot say is left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  let members = "";
  for (const key of Object.keys(value).sort()) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== undefined) members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** A row tells what happened; it is no place for whole objects. */
const maxDetailsLength = 16_384;

export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
