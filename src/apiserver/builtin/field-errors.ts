import type { FieldError } from "../../kube/field-error.ts";
import { goQuote } from "../../kube/go-text.ts";

/** The kinds of complaint, in the words of kube-apiserver. */

export const required = (field: string, detail = ""): FieldError => ({ type: "Required", field, detail });
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: "Invalid",
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
export const notFound = (field: string, value: unknown): FieldError => ({ type: "NotFound", field, value, detail: "" });

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: "NotSupported",
  field,
  value,
  detail: supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`,
});

export const tooLong = (field: string, value: unknown, limit: number): FieldError => ({
  type: "TooLong",
  field,
  value,
  detail: `may not be more than ${limit} bytes`,
});

export const tooMany = (field: string, value: number, limit: number): FieldError => ({
  type: "TooMany",
  field,
  value,
  detail: `must have at most ${limit} items`,
});

export const immutableMessage = "field is immutable";
