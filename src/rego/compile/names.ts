/**
 * Fresh names for the variables of one compilation, and what the author called them.
 * They start with a sign that no name in a source can have, so they never meet an author's name.
 */

export class Names {
  #count = 0;
  readonly #sources = new Map<string, string>();

  fresh(source?: string): string {
    const name = `@${this.#count++}`;
    if (source !== undefined) this.#sources.set(name, source);
    return name;
  }

  /** The author's name for a variable, for messages. */
  sourceOf(name: string): string {
    if (name.startsWith("$")) return "_";
    return this.#sources.get(name) ?? name;
  }

  isGenerated(name: string): boolean {
    return name.startsWith("@") || name.startsWith("$");
  }

  isAnonymous(name: string): boolean {
    return this.isGenerated(name) && !this.#sources.has(name);
  }
}
