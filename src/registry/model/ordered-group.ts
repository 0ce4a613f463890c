/**
 * Members in an order, which is also the order in which most of them come. Those that go are only noted down, and those
 * that come out of turn put in their place when somebody asks: a hundred thousand may go at once.
 */
export class OrderedGroup<T> {
  readonly #compare: (a: T, b: T) => number;
  #members: T[] = [];
  #gone: Set<T> | undefined;
  #isSorted = true;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#members.length - (this.#gone?.size ?? 0);
  }

  /** One that is not a member. */
  add(member: T): void {
    if (this.#gone?.delete(member)) {
      // Back at its old place, which need not be its place any more.
      this.#isSorted = false;
      return;
    }
    const last = this.#members.at(-1);
    if (last !== undefined && this.#compare(last, member) > 0) this.#isSorted = false;
    // An array that grows by itself takes room for seventeen at once; most groups stay far smaller.
    if (this.#members.length < smallSize) this.#members = this.#members.concat([member]);
    else this.#members.push(member);
  }

  /** One that is a member. */
  delete(member: T): void {
    this.#gone ??= new Set();
    this.#gone.add(member);
  }

  /** As they are now; good until the next one comes or goes. */
  list(): readonly T[] {
    const gone = this.#gone;
    if (gone !== undefined && gone.size > 0) this.#members = this.#members.filter((member) => !gone.has(member));
    this.#gone = undefined;
    if (!this.#isSorted) this.#members.sort(this.#compare);
    this.#isSorted = true;
    return this.#members;
  }
}

const smallSize = 16;

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

  list(key: string): readonly T[] {
    return this.#groups.get(key)?.list() ?? [];
  }
}
