/** Errors of parsing, compiling and evaluating, with OPA's codes and OPA's way of printing them. */
import type { Location } from "./ast.ts";

export type CompileErrorCode =
  | "rego_parse_error"
  | "rego_compile_error"
  | "rego_type_error"
  | "rego_unsafe_var_error"
  | "rego_recursion_error";

export interface RegoErrorItem {
  readonly code: CompileErrorCode;
  readonly message: string;
  readonly location: Location | undefined;
  /** Extra lines below the message: the source line with a caret, or the expected types. */
  readonly details?: readonly string[];
}

/** Everything that is wrong with modules or a query; thrown by `compile`. */
export class RegoErrors extends Error {
  readonly errors: readonly RegoErrorItem[];

  constructor(errors: readonly RegoErrorItem[]) {
    super(formatErrors(errors));
    this.name = "RegoErrors";
    this.errors = errors;
  }
}

export function formatErrors(errors: readonly RegoErrorItem[]): string {
  if (errors.length === 0) return "no error(s)";
  const [first] = errors;
  if (errors.length === 1 && first !== undefined) return `1 error occurred: ${formatError(first)}`;
  return `${errors.length} errors occurred:\n${errors.map(formatError).join("\n")}`;
}

export function formatError(error: RegoErrorItem): string {
  const { location } = error;
  const where =
    location === undefined
      ? ""
      : location.file === ""
        ? `${location.row}:${location.col}: `
        : `${location.file}:${location.row}: `;
  const lines = [`${where}${error.code}: ${error.message}`];
  if (error.details !== undefined) lines.push(...error.details.map((line) => `\t${line}`));
  return lines.join("\n");
}

/** OPA's order of errors: by place, then by code and text. */
export function sortErrors(errors: readonly RegoErrorItem[]): readonly RegoErrorItem[] {
  return [...errors].sort((left, right) => {
    const a = left.location;
    const b = right.location;
    if (a !== undefined && b !== undefined) {
      if (a.file !== b.file) return a.file < b.file ? -1 : 1;
      if (a.row !== b.row) return a.row - b.row;
      if (a.col !== b.col) return a.col - b.col;
    }
    const [first, second] = [formatError(left), formatError(right)];
    return first < second ? -1 : first > second ? 1 : 0;
  });
}
