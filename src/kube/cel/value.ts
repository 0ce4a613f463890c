import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "./type.ts";

/**
 * Values while an expression runs. Integers are bigints and doubles are numbers, so that the two never mix; errors are
 * values too, because `&&` and `||` may absorb them.
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | CelList
  | CelMap
  | Opaque
  | CelError;

export class CelError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export const noSuchOverload = new CelError("no such overload");
export const isError = (value: CelValue): value is CelError => value instanceof CelError;

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** Nanoseconds since 1970, between the years 1 and 9999. */
export class Timestamp {
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class Duration {
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class TypeValue {
  readonly type: CelType;
  constructor(type: CelType) {
    this.type = type;
  }
}

export class Optional {
  readonly value: CelValue | undefined;
  constructor(value?: CelValue) {
    this.value = value;
  }
}
export const none = new Optional();

/** A value of a library's own type; its functions know what is inside. */
export abstract class Opaque {
  abstract readonly type: CelType;
  abstract equals(other: CelValue): boolean;
  /** Set where the library counts the value's size into costs. */
  size(): number | undefined {
    return undefined;
  }
}

export abstract class CelList {
  abstract readonly length: number;
  abstract at(index: number): CelValue;

  *[Symbol.iterator](): Iterator<CelValue> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }

  concat(other: CelList): CelValue {
    return new ArrayList([...this]).concat(other);
  }

  /** Lists of type set and map compare in their own way; undefined leaves it to the general rule. */
  equals(_other: CelList): boolean | CelError | undefined {
    return undefined;
  }
}

/**
 * A list in memory. Lists that grow from one another share their storage: appending to the newest costs only what is
 * appended, which keeps `map` and `filter` linear, and older ones never see beyond their own length.
 */
export class ArrayList extends CelList {
  readonly length: number;
  readonly #storage: CelValue[];

  constructor(items: CelValue[], length: number = items.length) {
    super();
    this.#storage = items;
    this.length = length;
  }

  at(index: number): CelValue {
    return index < this.length ? (this.#storage[index] ?? null) : null;
  }

  override concat(other: CelList): CelValue {
    const isNewest = this.#storage.length === this.length;
    const storage = isNewest ? this.#storage : this.#storage.slice(0, this.length);
    for (const item of other) storage.push(item);
    return new ArrayList(storage);
  }
}

export abstract class CelMap {
  abstract readonly size: number;
  /** Undefined when there is no such key. */
  abstract find(key: CelValue): CelValue | undefined;
  abstract keys(): Iterable<CelValue>;
  /** Objects may hold fields that no expression can see; undefined leaves comparison to the general rule. */
  equals(_other: CelMap): boolean | CelError | undefined {
    return undefined;
  }
}

type Entries = Map<string, { readonly key: CelValue; readonly value: CelValue; readonly position: number }>;

/** A map in memory; as with lists, the ones that grow from one another share their storage. */
export class MemoryMap extends CelMap {
  readonly size: number;
  readonly #entries: Entries;

  constructor(entries: Entries = new Map(), size: number = entries.size) {
    super();
    this.#entries = entries;
    this.size = size;
  }

  find(key: CelValue): CelValue | undefined {
    const identity = keyIdentity(key);
    const entry = identity === undefined ? undefined : this.#entries.get(identity);
    return entry !== undefined && entry.position < this.size ? entry.value : undefined;
  }

  *keys(): Iterable<CelValue> {
    for (const { key, position } of this.#entries.values()) if (position < this.size) yield key;
  }

  with(key: CelValue, value: CelValue): MemoryMap | CelError {
    const identity = keyIdentity(key);
    if (identity === undefined) return new CelError("unsupported key type");
    if (this.find(key) !== undefined) return new CelError(`insert failed: key ${displayKey(key)} already exists`);
    const isNewest = this.#entries.size === this.size;
    const entries: Entries = isNewest ? this.#entries : new Map([...this.#entries].slice(0, this.size));
    entries.set(identity, { key, value, position: this.size });
    return new MemoryMap(entries);
  }
}

/** Keys that are equal have the same identity, whatever kind of number they are. */
export function keyIdentity(key: CelValue): string | undefined {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${key}`;
  if (typeof key === "bigint") return `n${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
  return undefined;
}

export const displayKey = (key: CelValue): string =>
  key instanceof Uint ? key.value.toString() : typeof key === "object" ? "" : String(key);

export function typeOf(value: CelValue): CelType {
  if (value === null) return nullType;
  switch (typeof value) {
    case "boolean":
      return boolType;
    case "bigint":
      return intType;
    case "number":
      return doubleType;
    case "string":
      return stringType;
  }
  if (value instanceof Uint8Array) return bytesType;
  if (value instanceof Uint) return uintType;
  if (value instanceof Timestamp) return timestampType;
  if (value instanceof Duration) return durationType;
  if (value instanceof TypeValue) return typeType();
  if (value instanceof Optional) return optionalType(dynType);
  if (value instanceof CelList) return listType(dynType);
  if (value instanceof CelMap) return mapType(dynType, dynType);
  return value instanceof Opaque ? value.type : dynType;
}

/** How large a value is for the counting of costs: characters, bytes, items; anything else counts as one. */
export function sizeOf(value: CelValue): number {
  if (typeof value === "string") return characterCount(value);
  if (value instanceof Uint8Array || value instanceof CelList) return value.length;
  if (value instanceof CelMap) return value.size;
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value);
  return value instanceof Opaque ? (value.size() ?? 1) : 1;
}

export function characterCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code <= 0xdbff) count -= 1;
  }
  return count;
}
