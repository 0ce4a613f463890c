/** What is wrong with one field, in the words of kube-apiserver. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.containers[0].image`; map keys as `metadata.labels[app]`. */
  readonly field: string;
  /** The offending value; not shown for Required, Forbidden and Internal. */
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
  | "TooMany"
  | "NotFound"
  | "InternalError";
