/** What a request asks for after the question mark. */
export interface Query {
  /** The first value of that name, decoded; null where there is none. */
  get(name: string): string | null;
}

/** As URLSearchParams reads it; where nothing is encoded, as almost always, without taking all of it apart. */
export function queryOf(text: string): Query {
  return /[%+?]/.test(text) ? new URLSearchParams(text) : new PlainQuery(text);
}

class PlainQuery implements Query {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get(name: string): string | null {
    const text = this.#text;
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
      if (at > 0 && text[at - 1] !== "&") continue;
      const after = at + name.length;
      if (after === text.length || text[after] === "&") return "";
      if (text[after] !== "=") continue;
      const end = text.indexOf("&", after);
      return text.slice(after + 1, end < 0 ? text.length : end);
    }
    return null;
  }
}
