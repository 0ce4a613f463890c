/** A set that lists its members in one order; sorted when somebody asks, not when somebody comes or goes. */
export class OrderedGroup<T> {
  readonly #members = new Set<T>();
  readonly #compare: (a: T, b: T) => number;
  #sorted: readonly T[] | undefined;
  /** What somebody has made of the members and may use again for as long as they stay the same. */
  memo: unknown;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: T): void {
    this.#members.add(member);
    this.#sorted = undefined;
    this.memo = undefined;
  }

  delete(member: T): void {
    if (!this.#members.delete(member)) return;
    this.#sorted = undefined;
    this.memo = undefined;
  }

  list(): readonly T[] {
    this.#sorted ??= [...this.#members].sort(this.#compare);
    return this.#sorted;
  }
}

/** Groups by key; empty groups do not stay. */
export class OrderedIndex<T> {
  readonly #groups = new Map<string, OrderedGroup<T>>();
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  add(key: string, member: T): void {
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = new OrderedGroup(this.#compare);
      this.#groups.set(key, group);
    }
    group.add(member);
  }

  delete(key: string, member: T): void {
    const group = this.#groups.get(key);
    group?.delete(member);
    if (group?.size === 0) this.#groups.delete(key);
  }

  group(key: string): OrderedGroup<T> | undefined {
    return this.#groups.get(key);
  }

  list(key: string): readonly T[] {
    return this.#groups.get(key)?.list() ?? [];
  }
}
