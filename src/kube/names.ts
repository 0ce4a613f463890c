import { createHash } from "node:crypto";
import { utf8Length } from "./go-text.ts";

/** Names, label keys and label values: what the API accepts, in its own words, and how to make one that always fits. */

export const labelMaxLength = 63;
export const subdomainMaxLength = 253;

/** Each check answers what is wrong, nothing when the value is fine. */
export function dns1123LabelErrors(value: string): readonly string[] {
  const errors = tooLong(value, labelMaxLength, "characters");
  if (matches(value, dns1123Label)) return errors;
  if (matches(value, dns1123Subdomain)) return [...errors, "must not contain dots"];
  return [...errors, regexError(dns1123LabelMessage, dns1123Label, "my-name", "123-abc")];
}

export function dns1123SubdomainErrors(value: string): readonly string[] {
  return subdomainErrors(value, "characters");
}

export function dns1035LabelErrors(value: string): readonly string[] {
  const errors = tooLong(value, labelMaxLength, "characters");
  if (matches(value, dns1035Label)) return errors;
  return [...errors, regexError(dns1035LabelMessage, dns1035Label, "my-name", "abc-123")];
}

/** A label key, which is also the form of finalizers, annotation keys and condition types: `[prefix/]name`. */
export function labelKeyErrors(value: string): readonly string[] {
  const parts = value.split("/");
  const keyError = regexError(labelKeyMessage, labelKey, "MyName", "my.name", "123-abc");
  if (parts.length > 2) {
    return [`a valid label key ${keyError} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  const name = parts[parts.length - 1] ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix === "") errors.push("prefix part must be non-empty");
  else if (prefix !== undefined)
    errors.push(...subdomainErrors(prefix, "bytes").map((error) => `prefix part ${error}`));
  if (name === "") errors.push("name part must be non-empty");
  else errors.push(...tooLong(name, labelMaxLength, "bytes").map((error) => `name part ${error}`));
  if (!matches(name, labelKey)) errors.push(`name part ${keyError}`);
  return errors;
}

export function labelValueErrors(value: string): readonly string[] {
  const errors = tooLong(value, labelMaxLength, "bytes");
  if (matches(value, labelValue)) return errors;
  return [...errors, regexError(labelValueMessage, labelValue, "MyValue", "my_value", "12345")];
}

/**
 * A valid object name made from any text, never longer than the limit. What already is one stays as it is; anything else
 * is cut or cleaned and gets a hash of the whole text, so that two different texts never share a name.
 */
export function safeName(base: string, limit: number = subdomainMaxLength): string {
  if (base.length <= limit && matches(base, dns1123Subdomain)) return base;
  const cleaned = beginning(base)
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, "-")
    .replace(/[.-]{2,}/g, (run) => (run.includes(".") ? "." : run));
  return withHash(base, cleaned, limit);
}

/** As `safeName`, for names that may not contain dots: Services, containers, labels of a host name. */
export function safeLabelName(base: string, limit: number = labelMaxLength): string {
  if (base.length <= limit && matches(base, dns1123Label)) return base;
  return withHash(
    base,
    beginning(base)
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, "-"),
    limit,
  );
}

/** Any text as a label value; upper case, `_` and `.` are allowed there. */
export function safeLabelValue(value: string): string {
  if (value.length <= labelMaxLength && matches(value, labelValue)) return value;
  return withHash(value, beginning(value).replace(/[^A-Za-z0-9_.-]+/g, "-"), labelMaxLength);
}

/** A short stable digest of a text, in characters that every name accepts. */
export const nameHash = (text: string, length: number = hashLength): string =>
  createHash("sha256").update(text, "utf8").digest("hex").slice(0, length);

/** More is never needed for a name, however much of it has to be cleaned away. */
const beginning = (text: string): string => text.slice(0, 4 * subdomainMaxLength);

// 40 bits: names share a readable prefix as well, so a collision needs about a million equal beginnings.
const hashLength = 10;

function withHash(original: string, cleaned: string, limit: number): string {
  const hash = nameHash(original, Math.min(hashLength, limit));
  const kept = cleaned.slice(0, Math.max(0, limit - hash.length - 1)).replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
  return kept === "" ? hash : `${kept}-${hash}`;
}

const dns1123Label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const dns1123Subdomain = `${dns1123Label}(\\.${dns1123Label})*`;
const dns1035Label = "[a-z]([-a-z0-9]*[a-z0-9])?";
const labelKey = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const labelValue = `(${labelKey})?`;

const dns1123LabelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const dns1123SubdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const dns1035LabelMessage =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const labelKeyMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const labelValueMessage =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** The published patterns back-track; these equal ones read every character once. */
const linearPatterns: ReadonlyMap<string, RegExp> = new Map([
  [dns1123Label, /^(?!-)[a-z0-9-]+(?<!-)$/],
  [dns1123Subdomain, /^(?![-.])(?:[a-z0-9-](?!(?<=-)\.)|\.(?![-.]))+(?<![-.])$/],
  [dns1035Label, /^(?![-0-9])[a-z0-9-]+(?<!-)$/],
  [labelKey, /^(?![-_.])[A-Za-z0-9_.-]+(?<![-_.])$/],
  [labelValue, /^(?:(?![-_.])[A-Za-z0-9_.-]+(?<![-_.]))?$/],
]);

const matches = (value: string, pattern: string): boolean => linearPatterns.get(pattern)?.test(value) ?? false;

function subdomainErrors(value: string, unit: "bytes" | "characters"): readonly string[] {
  const errors = tooLong(value, subdomainMaxLength, unit);
  if (matches(value, dns1123Subdomain)) return errors;
  return [...errors, regexError(dns1123SubdomainMessage, dns1123Subdomain, "example.com")];
}

const tooLong = (value: string, limit: number, unit: "bytes" | "characters"): readonly string[] =>
  utf8Length(value) > limit ? [`must be no more than ${limit} ${unit}`] : [];

function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  return `${message} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`;
}
