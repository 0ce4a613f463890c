/**
 * Rego values at run time. Scalars and arrays are plain JavaScript values; objects and sets are classes, because their
 * keys may be any value and because they iterate in OPA's order. `undefined` is never a value: it means undefined.
 */
import { compareValues } from "./compare.ts";
import { type Decimal, scalarKeyOf } from "./number.ts";
import { visit } from "./work.ts";

export type Value = null | boolean | number | Decimal | string | readonly Value[] | RegoObject | RegoSet;

/** What a value looks like to callers: JSON, with `bigint` for integers that a double cannot hold. */
export type PlainValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

type ScalarKey = null | boolean | number | string;

/**
 * An object with any keys. Scalar keys live in one map under themselves, all others in a second map under their
 * canonical text. An object made from plain JSON converts a field only when somebody asks for it: most policies read
 * a few fields of a large input.
 */
export class RegoObject {
  #scalars: Map<ScalarKey, Value>;
  #others: Map<string, readonly [Value, Value]> | undefined;
  /** Keys such as `1.0`, which are found under 1 but shown as they were written. */
  #spelled: Map<ScalarKey, Value> | undefined;
  #source: { readonly [key: string]: unknown } | undefined;
  #convert: ((plain: unknown) => Value) | undefined;
  #sortedKeys: readonly Value[] | undefined;
  #text: string | undefined;

  constructor() {
    this.#scalars = new Map();
  }

  static fromEntries(entries: Iterable<readonly [Value, Value]>): RegoObject {
    const object = new RegoObject();
    for (const [key, value] of entries) object.set(key, value);
    return object;
  }

  /** A view of plain JSON that converts lazily; the caller must not change the source afterwards. */
  static lazy(source: { readonly [key: string]: unknown }, convert: (plain: unknown) => Value): RegoObject {
    const object = new RegoObject();
    object.#source = source;
    object.#convert = convert;
    return object;
  }

  get size(): number {
    this.#materialise();
    return this.#scalars.size + (this.#others?.size ?? 0);
  }

  get(key: Value): Value | undefined {
    if (typeof key === "string") return this.field(key);
    const scalar = scalarKeyOf(key);
    if (scalar !== undefined) return this.#source === undefined ? this.#scalars.get(scalar) : undefined;
    return this.#others?.get(canonicalText(key))?.[1];
  }

  /** `get` for the common case of a string key. */
  field(key: string): Value | undefined {
    if (this.#source === undefined) return this.#scalars.get(key);
    const known = this.#scalars.get(key);
    if (known !== undefined) return known;
    if (!Object.hasOwn(this.#source, key)) return undefined;
    const plain = this.#source[key];
    if (plain === undefined || this.#convert === undefined) return undefined;
    const value = this.#convert(plain);
    this.#scalars.set(key, value);
    return value;
  }

  has(key: Value): boolean {
    return this.get(key) !== undefined;
  }

  /** Only for objects under construction: a published object never changes. */
  set(key: Value, value: Value): void {
    this.#materialise();
    this.#sortedKeys = undefined;
    this.#text = undefined;
    const scalar = scalarKeyOf(key);
    if (scalar !== undefined) {
      if (key !== null && typeof key === "object" && !this.#scalars.has(scalar)) {
        this.#spelled ??= new Map();
        this.#spelled.set(scalar, key);
      }
      this.#scalars.set(scalar, value);
      return;
    }
    this.#others ??= new Map();
    const text = canonicalText(key);
    this.#others.set(text, [this.#others.get(text)?.[0] ?? key, value]);
  }

  delete(key: Value): void {
    this.#materialise();
    this.#sortedKeys = undefined;
    this.#text = undefined;
    const scalar = scalarKeyOf(key);
    if (scalar !== undefined) this.#scalars.delete(scalar);
    else this.#others?.delete(canonicalText(key));
  }

  /** Keys in OPA's order. */
  keys(): readonly Value[] {
    if (this.#sortedKeys !== undefined) return this.#sortedKeys;
    this.#materialise();
    const spelled = this.#spelled;
    const keys: Value[] = [...this.#scalars.keys()];
    if (spelled !== undefined) keys.forEach((key, index) => (keys[index] = spelled.get(key as ScalarKey) ?? key));
    if (this.#others !== undefined) for (const [key] of this.#others.values()) keys.push(key);
    keys.sort(compareValues);
    this.#sortedKeys = keys;
    return keys;
  }

  *entries(): IterableIterator<readonly [Value, Value]> {
    for (const key of this.keys()) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  /** Calls for each value that may have parts of its own, in any order; what was not converted yet is left out. */
  eachPart(call: (part: Value) => void): void {
    for (const value of this.#scalars.values()) call(value);
    if (this.#others === undefined) return;
    for (const [key, value] of this.#others.values()) {
      call(key);
      call(value);
    }
  }

  copy(): RegoObject {
    this.#materialise();
    const copy = new RegoObject();
    copy.#scalars = new Map(this.#scalars);
    if (this.#others !== undefined) copy.#others = new Map(this.#others);
    if (this.#spelled !== undefined) copy.#spelled = new Map(this.#spelled);
    return copy;
  }

  canonicalText(): string {
    visit();
    this.#text ??= `{${this.keys()
      .map((key) => `${canonicalText(key)}:${canonicalText(this.get(key) ?? null)}`)
      .join(",")}}`;
    return this.#text;
  }

  #materialise(): void {
    const source = this.#source;
    if (source === undefined) return;
    for (const key of Object.keys(source)) this.field(key);
    this.#source = undefined;
    this.#convert = undefined;
  }
}

/** A set of any values, iterated in OPA's order. */
export class RegoSet {
  #scalars: Set<ScalarKey>;
  #others: Map<string, Value> | undefined;
  #spelled: Map<ScalarKey, Value> | undefined;
  #sorted: readonly Value[] | undefined;
  #text: string | undefined;

  constructor(items?: Iterable<Value>) {
    this.#scalars = new Set();
    if (items !== undefined) for (const item of items) this.add(item);
  }

  get size(): number {
    return this.#scalars.size + (this.#others?.size ?? 0);
  }

  has(item: Value): boolean {
    const scalar = scalarKeyOf(item);
    if (scalar !== undefined) return this.#scalars.has(scalar);
    return this.#others?.has(canonicalText(item)) ?? false;
  }

  /** Only for sets under construction: a published set never changes. */
  add(item: Value): void {
    const scalar = scalarKeyOf(item);
    if (scalar !== undefined) {
      if (this.#scalars.has(scalar)) return;
      if (item !== null && typeof item === "object") {
        this.#spelled ??= new Map();
        this.#spelled.set(scalar, item);
      }
      this.#scalars.add(scalar);
    } else {
      this.#others ??= new Map();
      const text = canonicalText(item);
      if (this.#others.has(text)) return;
      this.#others.set(text, item);
    }
    this.#sorted = undefined;
    this.#text = undefined;
  }

  /** Members in OPA's order. */
  items(): readonly Value[] {
    if (this.#sorted !== undefined) return this.#sorted;
    const spelled = this.#spelled;
    const items: Value[] = [...this.#scalars];
    if (spelled !== undefined) items.forEach((item, index) => (items[index] = spelled.get(item as ScalarKey) ?? item));
    if (this.#others !== undefined) items.push(...this.#others.values());
    items.sort(compareValues);
    this.#sorted = items;
    return items;
  }

  /** Calls for each member that may have parts of its own, in any order. */
  eachPart(call: (part: Value) => void): void {
    if (this.#others !== undefined) for (const item of this.#others.values()) call(item);
  }

  [Symbol.iterator](): Iterator<Value> {
    return this.items()[Symbol.iterator]();
  }

  canonicalText(): string {
    visit();
    this.#text ??= `<${this.items().map(canonicalText).join(",")}>`;
    return this.#text;
  }
}

/** A text that two values share exactly when they are equal; the key of composite values in maps. */
export function canonicalText(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value === "boolean" || typeof value === "number") return String(value);
  if (isArray(value)) {
    visit();
    let text = "[";
    for (let index = 0; index < value.length; index++) {
      if (index > 0) text += ",";
      text += canonicalText(value[index] ?? null);
    }
    return `${text}]`;
  }
  if (value instanceof RegoObject || value instanceof RegoSet) return value.canonicalText();
  return value.canonicalText();
}

/** `Array.isArray` that keeps the element type. */
export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}
