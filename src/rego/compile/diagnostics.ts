/** Collects what is wrong, up to a limit, so that an author sees more than the first mistake. */
import type { Location } from "../syntax/ast.ts";
import { type CompileErrorCode, type RegoErrorItem, RegoErrors, sortErrors } from "../syntax/errors.ts";

/** OPA stops after ten as well. */
export const maxErrors = 10;

export class Diagnostics {
  readonly errors: RegoErrorItem[] = [];
  /** Mistakes that do not keep the later checks from running: they are reported together with what those find. */
  readonly #minor: RegoErrorItem[] = [];

  report(code: CompileErrorCode, location: Location | undefined, message: string, details?: readonly string[]): void {
    const isKnown = this.errors.some(
      (error) =>
        error.message === message &&
        error.location?.offset === location?.offset &&
        error.location?.file === location?.file,
    );
    if (isKnown) return;
    this.errors.push({ code, location, message, ...(details === undefined ? {} : { details }) });
  }

  reportMinor(
    location: Location,
    message: string,
    code: CompileErrorCode = "rego_compile_error",
    details?: readonly string[],
  ): void {
    this.#minor.push({ code, location, message, ...(details === undefined ? {} : { details }) });
  }

  /** Ends the compilation if anything was reported so far; minor mistakes count only at the end. */
  throwIfAny(isEnd = false): void {
    if (this.errors.length === 0 && !(isEnd && this.#minor.length > 0)) return;
    const sorted = sortErrors([...this.errors, ...this.#minor]);
    if (sorted.length <= maxErrors) throw new RegoErrors(sorted);
    throw new RegoErrors([
      ...sorted.slice(0, maxErrors),
      { code: "rego_compile_error", message: "error limit reached", location: undefined },
    ]);
  }
}
