import { type FieldError, formatFieldError, invalid } from "../field-error.ts";

/**
 * The state of one validation: where we are, what is wrong so far, and how many checks matched. The last is how
 * kube-apiserver picks the alternative of an `anyOf` or `oneOf` whose errors it shows.
 */
export class Walk {
  problems: FieldError[] = [];
  matches = 0;
  readonly #path: (string | number)[] = [];
  readonly #prefix: string;

  /** With a prefix, fields are named below it while messages name them without it, as for a status sub-resource. */
  constructor(prefix = "") {
    this.#prefix = prefix;
  }

  enter(segment: string | number): void {
    this.#path.push(segment);
  }

  leave(): void {
    this.#path.pop();
  }

  /** `spec.ports[0].name`; the keys of maps are written like fields here. */
  path(): string {
    let path = "";
    for (const segment of this.#path) {
      if (typeof segment === "number") path += `[${segment}]`;
      else path += path === "" ? segment : `.${segment}`;
    }
    return path;
  }

  /** The path as an error's field. */
  field(): string {
    const path = this.path();
    if (this.#prefix === "") return path === "" ? "<nil>" : path;
    return path === "" ? this.#prefix : `${this.#prefix}.${path}`;
  }

  add(problem: FieldError): void {
    this.problems.push(problem);
  }

  /** The general form: `Invalid value: VALUE: PATH in body SENTENCE`. */
  addInvalid(value: unknown, sentence: string): void {
    this.add(invalid(this.field(), value, `${this.path()} in body ${sentence}`));
  }

  /** Errors that the server cannot attribute to a field carry none. */
  addUnplaced(detail: string): void {
    this.add(invalid(this.#prefix === "" ? "<nil>" : this.#prefix, "", detail));
  }

  /** Runs a part on its own, so that its errors and matches can be taken or left. */
  apart(part: () => void): { readonly problems: FieldError[]; readonly matches: number } {
    const { problems, matches } = this;
    this.problems = [];
    this.matches = 0;
    part();
    const outcome = { problems: this.problems, matches: this.matches };
    this.problems = problems;
    this.matches = matches;
    return outcome;
  }

  take(outcome: { readonly problems: readonly FieldError[]; readonly matches: number }): void {
    for (const problem of outcome.problems) this.problems.push(problem);
    this.matches += outcome.matches;
  }

  /** Every error once: alternatives often repeat each other. */
  result(): readonly FieldError[] {
    if (this.problems.length < 2) return this.problems;
    const seen = new Set<string>();
    return this.problems.filter((problem) => {
      const text = formatFieldError(problem);
      return seen.has(text) ? false : seen.add(text);
    });
  }
}
