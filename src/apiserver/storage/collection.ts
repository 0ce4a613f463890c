import type { Entry } from "./entry.ts";

/** The committed objects of one resource, in key order. */
export class Collection {
  readonly #entries = new Map<string, Entry>();
  /** Sorted; every key of the map exactly once. */
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  set(entry: Entry): void {
    if (!this.#entries.has(entry.key)) this.#keys.splice(this.#firstAtOrAfter(entry.key), 0, entry.key);
    this.#entries.set(entry.key, entry);
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#keys.splice(this.#firstAtOrAfter(key), 1);
  }

  /** The entries of a prefix by position, without making a list of them. */
  view(prefix: string): EntryView {
    const start = prefix === "" ? 0 : this.#firstAtOrAfter(prefix);
    const end = prefix === "" ? this.#keys.length : this.#firstAtOrAfter(afterPrefix(prefix));
    return {
      size: end - start,
      at: (index) => this.#entries.get(this.#keys[start + index] ?? ""),
      firstAtOrAfter: (key) => Math.min(Math.max(this.#firstAtOrAfter(key), start), end) - start,
    };
  }

  /** All entries whose key starts with the prefix; an empty prefix means all. */
  range(prefix = ""): Entry[] {
    const start = prefix === "" ? 0 : this.#firstAtOrAfter(prefix);
    const found: Entry[] = [];
    for (let i = start; i < this.#keys.length; i++) {
      const key = this.#keys[i];
      if (key === undefined || !key.startsWith(prefix)) break;
      const entry = this.#entries.get(key);
      if (entry) found.push(entry);
    }
    return found;
  }

  #firstAtOrAfter(key: string): number {
    return firstIndexWhere(this.#keys.length, (i) => (this.#keys[i] ?? "") >= key);
  }
}

/** Entries in key order, valid until the next change. */
export interface EntryView {
  readonly size: number;
  at(index: number): Entry | undefined;
  firstAtOrAfter(key: string): number;
}

/** A view of a list that is in key order. */
export const viewOf = (entries: readonly Entry[]): EntryView => ({
  size: entries.length,
  at: (index) => entries[index],
  firstAtOrAfter: (key) => firstIndexWhere(entries.length, (index) => (entries[index]?.key ?? "") >= key),
});

/** The smallest text that is greater than all that begin with the prefix; prefixes here end with a slash. */
const afterPrefix = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** The first index in [0, length] from which on the predicate holds, for a predicate that never turns false again. */
export function firstIndexWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
