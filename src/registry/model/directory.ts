import type { Change } from "./change.ts";
import type { Moment, View } from "./decide.ts";
import { byOrder, Entry, type KeptInstance } from "./entry.ts";
import type { Instance } from "./instance.ts";
import { type NameGroup, NameIndex } from "./name-index.ts";
import { OrderedGroup, OrderedIndex } from "./ordered-group.ts";
import { PlaceIndex } from "./place-index.ts";

/**
 * All services, with an index for every question of the specification. Only `apply` changes what is durable and only
 * `beat` what is not; both are told the time.
 */
export class Directory implements View {
  readonly #entries = new Map<string, Entry>();
  readonly #all = new OrderedGroup<Entry>(byOrder);
  readonly #byName = new NameIndex();
  readonly #byType = new OrderedIndex<Entry>(byOrder);
  readonly #byEngine = new OrderedIndex<Entry>(byOrder);
  readonly #byPlace: PlaceIndex;
  readonly #countByOwner = new Map<string, number>();
  /** How many services of a name each identity has registered; what nobody owns is not counted. */
  readonly #ownersByName = new Map<string, Map<string, number>>();
  /** The number of the last change that was applied. */
  sequence = 0;

  /** The seed is for a hash that strangers must not be able to guess. */
  constructor(seed = 0) {
    this.#byPlace = new PlaceIndex(seed);
  }

  /** Registered ones and hidden ones. */
  get size(): number {
    return this.#entries.size;
  }
  /** Registered ones. */
  get registeredSize(): number {
    return this.#all.size;
  }

  get(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  idAt(place: string): string | undefined {
    return this.#byPlace.at(place)?.instance.target.id;
  }

  otherOwnerOf(serviceName: string, owner: string): string | undefined {
    for (const other of this.#ownersByName.get(serviceName)?.keys() ?? []) if (other !== owner) return other;
    return undefined;
  }

  countOf(owner: string): number {
    return this.#countByOwner.get(owner) ?? 0;
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /**
   * Registered, in order, as they are now. Expired ones are the caller's to leave out, because only the caller knows the
   * time.
   */
  registered(): readonly Entry[] {
    return this.#all.list();
  }
  named(serviceName: string): readonly Entry[] {
    return this.#byName.get(serviceName)?.list() ?? [];
  }
  groupNamed(serviceName: string): NameGroup | undefined {
    return this.#byName.get(serviceName);
  }
  ofType(serviceType: string): readonly Entry[] {
    return this.#byType.list(serviceType);
  }
  engines(serviceType: string, serviceSubType: string, languageName: string): readonly Entry[] {
    return this.#byEngine.list(engineKey(serviceType, serviceSubType, languageName));
  }

  /** Puts back what was stored; heartbeats are counted from now, because nobody could be heard before. */
  load(instance: Instance, lastSeenMs: number | undefined, now: Moment): Entry {
    const entry = this.#put(instance, now);
    entry.lastSeenMs = lastSeenMs;
    const { presence } = instance;
    if (presence.kind !== "Registered") entry.hiddenSinceMs = now.monotonicMs - Math.max(0, now.wallMs - presence.atMs);
    return entry;
  }

  /** After everything was loaded: what lookups need is there before the first of them. */
  ready(): void {
    this.#byName.write();
  }

  /** Takes over one change; changes come in their order, each once. */
  apply(change: Change, now: Moment): Entry | undefined {
    this.sequence = change.sequence;
    if (change.instance !== null) return this.#put(change.instance, now);
    const entry = this.#entries.get(change.id);
    if (entry !== undefined) this.#remove(entry);
    return undefined;
  }

  /** A heartbeat that this process got. */
  beat(entry: Entry, now: Moment): void {
    entry.heardAtMs = Math.ceil(now.monotonicMs);
    entry.lastSeenMs = now.wallMs;
    entry.heardElsewhere = false;
  }

  /** A heartbeat that another replica got, so long ago; it may be older than ours. */
  beatElsewhere(entry: Entry, ageMs: number, now: Moment): void {
    const heardAtMs = Math.ceil(now.monotonicMs - Math.max(0, ageMs));
    const newerByMs = heardAtMs - entry.heardAtMs;
    if (newerByMs <= 0) return;
    entry.heardAtMs = heardAtMs;
    entry.lastSeenMs = now.wallMs - Math.max(0, ageMs);
    // A little newer than ours is ours, come back from the database a little late.
    if (newerByMs > echoMs) entry.heardElsewhere = true;
  }

  /** Before everything is loaded anew. */
  clear(): void {
    for (const entry of [...this.#entries.values()]) this.#remove(entry);
    this.sequence = 0;
  }

  #put(instance: Instance, now: Moment): Entry {
    const known = this.#entries.get(instance.target.id);
    if (known !== undefined) {
      this.#replace(known, instance, now);
      return known;
    }
    const entry = new Entry(instance, now.monotonicMs);
    this.#entries.set(instance.target.id, entry);
    this.#count(instance.owner, 1);
    this.#index(entry);
    return entry;
  }

  #replace(entry: Entry, instance: Instance, now: Moment): void {
    const before = entry.instance;
    if (!instance.pinged) entry.lastSeenMs = undefined;
    // Silence is counted anew when heartbeats begin, and when a service comes back from wherever it was.
    if (instance.pinged && isBack(before, instance)) entry.heardAtMs = Math.ceil(now.monotonicMs);
    if (before.presence.kind === "Registered" && instance.presence.kind !== "Registered")
      entry.hiddenSinceMs = now.monotonicMs;
    if (isFoundAlike(before, instance)) {
      entry.become(instance);
      return;
    }
    this.#unindex(entry);
    this.#byPlace.delete(entry);
    this.#count(before.owner, -1);
    this.#count(instance.owner, 1);
    entry.become(instance);
    this.#index(entry);
  }

  #remove(entry: Entry): void {
    this.#unindex(entry);
    this.#byPlace.delete(entry);
    this.#entries.delete(entry.instance.target.id);
    this.#count(entry.instance.owner, -1);
  }

  #index(entry: Entry): void {
    const { target, owner, presence } = entry.instance;
    this.#byPlace.add(entry);
    if (presence.kind !== "Registered") return;
    this.#all.add(entry);
    this.#byName.add(target.serviceName, entry);
    this.#countName(target.serviceName, owner, 1);
    this.#byType.add(target.serviceType ?? "", entry);
    const engine = engineOf(entry);
    if (engine !== undefined) this.#byEngine.add(engine, entry);
  }

  #unindex(entry: Entry): void {
    const { target, owner, presence } = entry.instance;
    if (presence.kind !== "Registered") return;
    this.#all.delete(entry);
    this.#countName(target.serviceName, owner, -1);
    this.#byName.delete(target.serviceName, entry);
    this.#byType.delete(target.serviceType ?? "", entry);
    const engine = engineOf(entry);
    if (engine !== undefined) this.#byEngine.delete(engine, entry);
  }

  #count(owner: string, by: number): void {
    addTo(this.#countByOwner, owner, by);
  }

  #countName(serviceName: string, owner: string, by: number): void {
    if (owner === "") return;
    const owners = this.#ownersByName.get(serviceName) ?? new Map<string, number>();
    addTo(owners, owner, by);
    if (owners.size === 0) this.#ownersByName.delete(serviceName);
    else this.#ownersByName.set(serviceName, owners);
  }
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Nothing changed by which it is found: most changes are of health. */
const isFoundAlike = (before: KeptInstance, after: Instance): boolean =>
  before.target.equals(after.target) && before.owner === after.owner && before.presence.kind === after.presence.kind;

const echoMs = 1_000;

const isBack = (before: Instance, after: Instance): boolean =>
  !before.pinged || (before.missing && !after.missing) || before.presence.kind !== after.presence.kind;

const engineKey = (serviceType: string, serviceSubType: string, languageName: string): string =>
  `${serviceType}\n${serviceSubType}\n${languageName}`;

function engineOf({ instance: { target } }: Entry): string | undefined {
  const { serviceType, serviceSubType, languageName } = target;
  if (serviceType === null || serviceSubType === null || languageName === null) return undefined;
  return engineKey(serviceType, serviceSubType, languageName);
}
