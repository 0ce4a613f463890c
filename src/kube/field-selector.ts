import { compareUtf8 } from "./go-text.ts";
import { type Parsed, parsed, refused } from "./parsed.ts";

/** Field selectors: `status.phase!=Running,metadata.name=web`. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

export function parseFieldSelector(text: string): Parsed<readonly FieldRequirement[]> {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort(compareUtf8)) {
    if (term === "") continue;
    const [, field, operator, escaped] = /^([^=!]*(?:!(?!=)[^=!]*)*)(!=|==?)(.*)$/s.exec(term) ?? [];
    if (field === undefined || operator === undefined || escaped === undefined) {
      return refused(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    const value = unescapeValue(escaped);
    if (!value.ok) return value;
    requirements.push({ field, operator: operator === "!=" ? "!=" : "=", value: value.value });
  }
  return parsed(requirements);
}

export function formatFieldSelector(selector: readonly FieldRequirement[]): string {
  return selector.map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`).join(",");
}

/** A missing field counts as the empty string. */
export function matchesFields(
  selector: readonly FieldRequirement[],
  fieldValue: (field: string) => string | undefined,
): boolean {
  return selector.every(({ field, operator, value }) => ((fieldValue(field) ?? "") === value) === (operator === "="));
}

/** The value that one field must have, when the selector asks for exactly one. */
export const exactFieldValue = (selector: readonly FieldRequirement[], field: string): string | undefined =>
  selector.find((requirement) => requirement.field === field && requirement.operator === "=")?.value;

export const escapeFieldValue = (value: string): string => value.replace(/[\\,=]/g, "\\$&");

/** Commas separate terms unless a backslash stands before them. */
const splitTerms = (text: string): string[] => {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === ",") {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
};

function unescapeValue(text: string): Parsed<string> {
  if (!/[\\,=]/.test(text)) return parsed(text);
  let value = "";
  let escaped = false;
  for (const character of text) {
    const isSpecial = character === "\\" || character === "," || character === "=";
    if (escaped) {
      if (!isSpecial) return refused(`invalid field selector: invalid escape sequence: \\${character}`);
      value += character;
      escaped = false;
    } else if (character === "\\") escaped = true;
    else if (isSpecial) {
      // The real server prints the character's number here.
      return refused(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else value += character;
  }
  return escaped ? refused("invalid field selector: invalid escape sequence: \\") : parsed(value);
}
