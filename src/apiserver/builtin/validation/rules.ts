import { type FieldError, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { goJson } from "../../../kube/go-text.ts";
import { dns1123LabelErrors, dns1123SubdomainErrors, labelKeyErrors } from "../../../kube/names.ts";
import { type Draft, numeral, text } from "../draft.ts";

/** Checks that many kinds share. Each answers a list, so that callers can put them one after the other. */

export type Errors = readonly FieldError[];

export const notNegative = "must be greater than or equal to 0";

/** An invalid value whose text is not what our JSON would say, because the real server prints its own inner form. */
export const invalidText = (field: string, shown: string, detail: string): FieldError => ({
  type: "Invalid",
  field,
  detail: `${shown}: ${detail}`,
});

export const unsupportedText = (field: string, shown: string, supported: readonly string[]): FieldError => ({
  type: "NotSupported",
  field,
  detail: `${shown}: supported values: ${supported.map((value) => goJson(value)).join(", ")}`,
});

export const checkNotNegative = (holder: Draft | undefined, field: string, path: string): Errors => {
  const value = numeral(holder, field);
  return value !== undefined && value < 0 ? [invalid(`${path}.${field}`, value, notNegative)] : [];
};

export const checkLabel = (value: string, path: string): Errors =>
  dns1123LabelErrors(value).map((error) => invalid(path, value, error));

export const checkSubdomain = (value: string, path: string): Errors =>
  dns1123SubdomainErrors(value).map((error) => invalid(path, value, error));

export const checkQualifiedName = (value: string, path: string): Errors =>
  labelKeyErrors(value).map((error) => invalid(path, value, error));

/** A field that must have one of a few values; an absent one is another rule's business. */
export const checkOneOf = (value: string, path: string, supported: readonly string[]): Errors =>
  value === "" || supported.includes(value) ? [] : [notSupported(path, value, supported)];

/** As `checkOneOf`, and it must be there. */
export const checkRequiredOneOf = (value: string, path: string, supported: readonly string[]): Errors =>
  value === "" ? [required(path)] : checkOneOf(value, path, supported);

export const checkPortNumber = (value: unknown, path: string): Errors =>
  typeof value === "number" && value >= 1 && value <= 65535 ? [] : [invalid(path, value ?? 0, portRange)];

const portRange = "must be between 1 and 65535, inclusive";

export function portNameErrors(name: string): readonly string[] {
  const errors: string[] = [];
  if (name.length > 15) errors.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name)) errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) errors.push("must contain at least one letter (a-z)");
  if (name.includes("--")) errors.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) errors.push("must not begin or end with a hyphen");
  return errors;
}

/** A port that may be given by number or by name. */
export const checkPort = (value: unknown, path: string): Errors =>
  typeof value === "string"
    ? portNameErrors(value).map((error) => invalid(path, value, error))
    : checkPortNumber(value, path);

export const protocols = ["SCTP", "TCP", "UDP"] as const;

const percentPattern = "[0-9]+%";

/** A number or a percentage, neither negative. */
export function checkNumberOrPercent(value: unknown, path: string): Errors {
  if (typeof value === "number") return value < 0 ? [invalid(path, value, notNegative)] : [];
  if (typeof value !== "string" || new RegExp(`^${percentPattern}$`).test(value)) return [];
  const detail = `a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '${percentPattern}')`;
  return [invalid(path, value, detail)];
}

export const checkAtMostAll = (value: unknown, path: string): Errors => {
  const percent = percentOf(value);
  return percent !== undefined && percent > 100 ? [invalid(path, value, "must not be greater than 100%")] : [];
};

export const percentOf = (value: unknown): number | undefined =>
  typeof value === "string" && /^\d+%$/.test(value) ? Number.parseInt(value, 10) : undefined;

const configKeyPattern = "[-._a-zA-Z0-9]+";

export function configKeyErrors(key: string): readonly string[] {
  const errors: string[] = [];
  if (key.length > 253) errors.push("must be no more than 253 characters");
  if (!new RegExp(`^${configKeyPattern}$`).test(key)) {
    errors.push(
      `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${configKeyPattern}')`,
    );
  }
  if (key === ".") errors.push("must not be '.'");
  else if (key === "..") errors.push("must not be '..'");
  else if (key.startsWith("..")) errors.push("must not start with '..'");
  return errors;
}

/** A path inside a volume: relative, and not out of it. */
export function checkDescendingPath(value: string, path: string): Errors {
  const errors: FieldError[] = [];
  if (value.startsWith("/")) errors.push(invalid(path, value, "must be a relative path"));
  if (value.split("/").includes("..")) errors.push(invalid(path, value, "must not contain '..'"));
  return errors;
}

export const requiredText = (holder: Draft | undefined, field: string, path: string): Errors =>
  text(holder, field) === "" ? [required(`${path}.${field}`)] : [];
