import type { Entry } from "./entry.ts";
import { placeOf } from "./instance.ts";

/**
 * Who was registered last at a place. A place is long, and everybody has one, so that only its hash is kept; whether it is
 * really that place is seen on the entry.
 */
export class PlaceIndex {
  readonly #byHash = new Map<number, readonly Entry[] | Entry>();
  readonly #seed: number;

  /** A seed that nobody can guess keeps strangers from making up places of one hash, which would be slow to tell apart. */
  constructor(seed: number) {
    this.#seed = seed | 0;
  }

  at(place: string): Entry | undefined {
    return this.#of(this.#hashOf(place)).find((entry) => placeOfEntry(entry) === place);
  }

  add(entry: Entry): void {
    const place = placeOfEntry(entry);
    const hash = this.#hashOf(place);
    this.#keep(hash, [...this.#of(hash).filter((other) => placeOfEntry(other) !== place), entry]);
  }

  /** Before its place changes. */
  delete(entry: Entry): void {
    const hash = this.#hashOf(placeOfEntry(entry));
    this.#keep(
      hash,
      this.#of(hash).filter((other) => other !== entry),
    );
  }

  #of(hash: number): readonly Entry[] {
    const found = this.#byHash.get(hash);
    if (found === undefined) return [];
    return "instance" in found ? [found] : found;
  }

  #keep(hash: number, entries: readonly Entry[]): void {
    const [first] = entries;
    if (first === undefined) this.#byHash.delete(hash);
    else this.#byHash.set(hash, entries.length === 1 ? first : entries);
  }

  /** FNV-1a, a whole number of 32 bits: V8 keeps those without a box. */
  #hashOf(text: string): number {
    let hash = this.#seed;
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    return hash;
  }
}

const placeOfEntry = ({ instance }: Entry): string => placeOf(instance.owner, instance.target);
