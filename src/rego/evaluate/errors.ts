/** Errors of evaluation. */
import type { Location } from "../syntax/ast.ts";

export type EvalErrorCode =
  | "eval_internal_error"
  | "eval_conflict_error"
  | "eval_type_error"
  | "eval_builtin_error"
  | "eval_with_merge_error"
  | "eval_cancel_error"
  | "eval_limit_error";

/** Ends an evaluation. */
export class RegoError extends Error {
  readonly code: EvalErrorCode;
  readonly location: Location | undefined;
  readonly detail: string;

  constructor(code: EvalErrorCode, detail: string, location?: Location) {
    super(`${location === undefined ? "" : `${placeOf(location)}: `}${code}: ${detail}`);
    this.name = "RegoError";
    this.code = code;
    this.detail = detail;
    this.location = location;
  }
}

/** A query has no file, so its own text says where. */
function placeOf({ file, row, col, text }: Location): string {
  if (file !== "") return `${file}:${row}`;
  return text === "" ? `${row}:${col}` : text;
}

/** A built-in refuses its operands. Undefined in normal mode, an error in strict mode. */
export class BuiltinFault extends Error {
  readonly code: "eval_builtin_error" | "eval_type_error";
  /** Ends the evaluation even in normal mode. */
  readonly halts: boolean;

  constructor(message: string, code: BuiltinFault["code"] = "eval_builtin_error", halts = false) {
    super(message);
    this.code = code;
    this.halts = halts;
  }
}
