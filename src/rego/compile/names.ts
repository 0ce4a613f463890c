/** Fresh names for the variables of one compilation, and what the author called them. */

export class Names {
  #count = 0;
  readonly #sources = new Map<string, string>();

  fresh(source?: string): string {
    const name = `__local${this.#count++}__`;
    if (source !== undefined) this.#sources.set(name, source);
    return name;
  }

  /** The author's name for a variable, for messages. */
  sourceOf(name: string): string {
    if (name.startsWith("$")) return "_";
    return this.#sources.get(name) ?? name;
  }

  isGenerated(name: string): boolean {
    return name.startsWith("__local") || name.startsWith("$");
  }

  isAnonymous(name: string): boolean {
    return this.isGenerated(name) && !this.#sources.has(name);
  }
}
