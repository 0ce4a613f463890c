import { goFloat, goJson, goNumber, goQuote } from "./go-text.ts";
import type { StatusCause } from "./object.ts";

/** What is wrong with one field, in the words of kube-apiserver. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.containers[0].image`; map keys as `metadata.labels[app]`. */
  readonly field: string;
  /** The offending value; not shown for Required, Forbidden, TooLong, TooShort and InternalError. */
  readonly value?: unknown;
  readonly detail: string;
}

export type FieldErrorType =
  | "Required"
  | "Invalid"
  | "TypeInvalid"
  | "NotSupported"
  | "Duplicate"
  | "Forbidden"
  | "TooLong"
  | "TooShort"
  | "TooMany"
  | "TooFew"
  | "NotFound"
  | "InternalError";

export interface FormattedFieldErrors {
  /** One message for all: a single one as it is, several as `[a, b]`; the same message is not repeated. */
  readonly message: string;
  readonly messages: readonly string[];
  readonly causes: readonly StatusCause[];
}

/** The errors as a Status carries them. */
export function formatFieldErrors(errors: readonly FieldError[]): FormattedFieldErrors {
  const messages = [...new Set(errors.map(formatFieldError))];
  return {
    message: messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`,
    messages,
    causes: errors.map((error) => ({
      reason: reasons[error.type],
      message: fieldErrorBody(error),
      field: error.field,
    })),
  };
}

export const formatFieldError = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`;

/** The error without the name of the field. */
export function fieldErrorBody(error: FieldError): string {
  const shown = showsValue.has(error.type) && "value" in error ? `: ${formatValue(error.value)}` : "";
  return `${titles[error.type]}${shown}${error.detail === "" ? "" : `: ${error.detail}`}`;
}

export const required = (field: string, detail = ""): FieldError => ({ type: "Required", field, detail });
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: "Invalid",
  field,
  value,
  detail,
});
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: "TypeInvalid",
  field,
  value,
  detail,
});
export const forbidden = (field: string, detail: string): FieldError => ({ type: "Forbidden", field, detail });
export const duplicate = (field: string, value: unknown): FieldError => ({
  type: "Duplicate",
  field,
  value,
  detail: "",
});
export const internalError = (field: string, detail: string): FieldError => ({ type: "InternalError", field, detail });
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: "NotSupported",
  field,
  value,
  detail: supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`,
});
export const tooMany = (field: string, actual: number, limit: number): FieldError => ({
  type: "TooMany",
  field,
  value: actual,
  detail: `must have at most ${limit} item${limit === 1 ? "" : "s"}`,
});
/** Without a limit the message only says that it is too long. */
export const tooLong = (field: string, limitBytes?: number): FieldError => ({
  type: "TooLong",
  field,
  detail:
    limitBytes === undefined
      ? "value is too long"
      : `may not be more than ${limitBytes} byte${limitBytes === 1 ? "" : "s"}`,
});

const reasons: Readonly<Record<FieldErrorType, string>> = {
  Required: "FieldValueRequired",
  Invalid: "FieldValueInvalid",
  TypeInvalid: "FieldValueTypeInvalid",
  NotSupported: "FieldValueNotSupported",
  Duplicate: "FieldValueDuplicate",
  Forbidden: "FieldValueForbidden",
  TooLong: "FieldValueTooLong",
  TooShort: "FieldValueTooShort",
  TooMany: "FieldValueTooMany",
  TooFew: "FieldValueTooFew",
  NotFound: "FieldValueNotFound",
  InternalError: "InternalError",
};

const titles: Readonly<Record<FieldErrorType, string>> = {
  Required: "Required value",
  Invalid: "Invalid value",
  TypeInvalid: "Invalid value",
  NotSupported: "Unsupported value",
  Duplicate: "Duplicate value",
  Forbidden: "Forbidden",
  TooLong: "Too long",
  TooShort: "Too short",
  TooMany: "Too many",
  TooFew: "Too few",
  NotFound: "Not found",
  InternalError: "Internal error",
};

const showsValue: ReadonlySet<FieldErrorType> = new Set([
  "Invalid",
  "TypeInvalid",
  "NotSupported",
  "NotFound",
  "Duplicate",
  "TooMany",
  "TooFew",
]);

function formatValue(value: unknown): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return Number.isInteger(value) ? goNumber(value) : goFloat(value);
  if (typeof value === "boolean") return String(value);
  return goJson(value);
}
