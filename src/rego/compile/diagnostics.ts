/** Collects what is wrong, up to a limit, so that an author sees more than the first mistake. */
import type { Location } from "../syntax/ast.ts";
import { type CompileErrorCode, type RegoErrorItem, RegoErrors, sortErrors } from "../syntax/errors.ts";

/** OPA stops after ten as well. */
export const maxErrors = 10;

export class Diagnostics {
  /** Those that keep the later checks from running. */
  readonly errors: RegoErrorItem[] = [];
  /** All, in the order in which they were found. */
  readonly #found: RegoErrorItem[] = [];

  report(code: CompileErrorCode, location: Location | undefined, message: string, details?: readonly string[]): void {
    const isKnown = this.errors.some(
      (error) =>
        error.message === message &&
        error.location?.offset === location?.offset &&
        error.location?.file === location?.file,
    );
    if (isKnown) return;
    const item = { code, location, message, ...(details === undefined ? {} : { details }) };
    this.errors.push(item);
    this.#found.push(item);
  }

  /** A mistake that does not keep the later checks from running: it is reported together with what those find. */
  reportMinor(
    location: Location,
    message: string,
    code: CompileErrorCode = "rego_compile_error",
    details?: readonly string[],
  ): void {
    this.#found.push({ code, location, message, ...(details === undefined ? {} : { details }) });
  }

  /** Ends the compilation if anything was reported so far; minor mistakes count at the end, or when there are many. */
  throwIfAny(isEnd = false): void {
    const isFull = this.#found.length >= maxErrors;
    if (this.errors.length === 0 && !isFull && !(isEnd && this.#found.length > 0)) return;
    const sorted = sortErrors(this.#found.slice(0, maxErrors));
    if (!isFull) throw new RegoErrors(sorted);
    const marker = { code: "rego_compile_error", message: "error limit reached", location: undefined } as const;
    throw new RegoErrors([...sorted, marker]);
  }
}
