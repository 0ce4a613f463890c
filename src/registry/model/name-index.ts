import { byOrder, type Entry } from "./entry.ts";
import { type ExpiryLimits, isListedAt } from "./expiry.ts";
import { flat, type TargetKind } from "./kept-target.ts";
import { OrderedGroup } from "./ordered-group.ts";

/**
 * All registered services of one name. Who looks up a name wants all of them, so that the answer is kept with the group, as
 * one text: among a million services every step to another object is a wait for memory, and one text is read in one go.
 */
export class NameGroup {
  readonly #members = new OrderedGroup<Entry>(byOrder);
  #whole: Whole | undefined;
  #isWritten = false;
  /** Until then nobody of the group can have been silent for too long: silence only ever begins anew, and later. */
  #listedUntilMs = 0;

  get size(): number {
    return this.#members.size;
  }

  list(): readonly Entry[] {
    return this.#members.list();
  }

  add(entry: Entry): void {
    this.#members.add(entry);
    this.#forget();
  }

  delete(entry: Entry): void {
    this.#members.delete(entry);
    // Whoever stays hidden for a while must not keep everybody's text.
    entry.moveHead();
    this.#forget();
  }

  /** All of the group, where all are of one kind and in the listing; otherwise they have to be looked at one by one. */
  whole(nowMs: number, limits: ExpiryLimits): Whole | undefined {
    this.write();
    if (this.#whole === undefined) return undefined;
    if (nowMs >= this.#listedUntilMs) this.#listedUntilMs = listedUntil(this.list(), nowMs, limits);
    return nowMs < this.#listedUntilMs ? this.#whole : undefined;
  }

  /** Once for each change. Large groups are not written: a change of one would be paid for all. */
  write(): void {
    if (this.#isWritten) return;
    this.#isWritten = true;
    this.#whole = this.size > maxWritten ? undefined : wholeOf(this.list());
  }

  #forget(): void {
    this.#isWritten = false;
    this.#listedUntilMs = 0;
  }
}

/** Services of one kind as one text. */
export interface Whole {
  readonly kind: TargetKind;
  /** A JSON array of targets. */
  readonly json: string;
  readonly isAscii: boolean;
}

const maxWritten = 64;

function wholeOf(entries: readonly Entry[]): Whole | undefined {
  const kind = entries[0]?.kind;
  if (kind === undefined || entries.some((entry) => entry.kind !== kind)) return undefined;
  const json = flat(`[${entries.map(({ head }) => head + kind.json).join(",")}]`);
  // What is in the text need not be kept twice.
  let at = 1;
  for (const entry of entries) {
    entry.moveHead(json, at);
    at += entry.head.length + kind.json.length + 1;
  }
  return { kind, json, isAscii: Buffer.byteLength(json) === json.length };
}

/** Whole milliseconds, which V8 keeps without a box. Zero when somebody is not in the listing already. */
function listedUntil(entries: readonly Entry[], nowMs: number, limits: ExpiryLimits): number {
  let until = Math.floor(nowMs) + limits.deregisterAfterMs;
  for (const entry of entries) {
    if (!isListedAt(entry, nowMs, limits)) return 0;
    if (entry.instance.pinged) until = Math.min(until, entry.heardAtMs + limits.deregisterAfterMs);
  }
  return until;
}

/** Groups by name; empty groups do not stay. */
export class NameIndex {
  readonly #groups = new Map<string, NameGroup>();

  get(name: string): NameGroup | undefined {
    return this.#groups.get(name);
  }

  add(name: string, entry: Entry): void {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = new NameGroup();
      this.#groups.set(name, group);
    }
    group.add(entry);
  }

  delete(name: string, entry: Entry): void {
    const group = this.#groups.get(name);
    group?.delete(entry);
    if (group?.size === 0) this.#groups.delete(name);
  }

  /** Before the first lookups, so that they need not. */
  write(): void {
    for (const group of this.#groups.values()) group.write();
  }
}
