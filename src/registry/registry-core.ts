import type { CancelTimer, Env } from "../env/env.ts";
import type { Logger } from "../runtime/log.ts";
import type { Change } from "./model/change.ts";
import { type Answer, anyone, type Command, type Identity } from "./model/command.ts";
import type { Moment, Rules } from "./model/decide.ts";
import { Directory } from "./model/directory.ts";
import { DueList } from "./model/due-list.ts";
import type { Entry } from "./model/entry.ts";
import { nextDueAtMs, silenceAt } from "./model/expiry.ts";
import type { Loaded, RegistryLog } from "./storage/registry-log.ts";
import { Writer } from "./writer.ts";

export interface CoreOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly storage: RegistryLog;
  readonly rules: Rules;
  readonly beatSaveMs: number;
  readonly maxKeptChanges: number;
}

/** Who wants to know what happens, in its order. */
export interface Observer {
  onChanges?(changes: readonly Change[]): void;
  onPing?(entry: Entry): void;
  /** Everything was loaded, at the start or anew; changes may have been passed over. */
  onReset?(): void;
  onBatch?(commands: number): void;
}

/**
 * The registry without any wire: a directory in memory, a log on disk, heartbeats in between, and the clock that moves
 * services through their lives.
 */
export class RegistryCore {
  readonly directory: Directory;
  readonly rules: Rules;
  readonly #options: CoreOptions;
  readonly #writer: Writer;
  readonly #observers = new Set<Observer>();
  readonly #due: DueList<Entry>;
  readonly #sweepMs: number;
  #unsaved = new Set<Entry>();
  #timers: CancelTimer[] = [];
  #catchingUp: Promise<void> | undefined;
  #wantedSequence = 0;
  #stopFollowing: (() => Promise<void>) | undefined;
  #isRunning = false;
  #sweeping: Promise<void> = Promise.resolve();
  #saving: Promise<void> = Promise.resolve();
  #prunedUpTo = 0;

  constructor(options: CoreOptions) {
    const { env, storage, rules } = options;
    this.#options = options;
    this.directory = new Directory(env.random() * 2 ** 32);
    this.rules = rules;
    this.#sweepMs = Math.max(minSweepMs, Math.min(maxSweepMs, rules.expiry.missingAfterMs / 20));
    this.#due = new DueList(this.#sweepMs);
    this.#writer = new Writer({
      env,
      log: storage,
      directory: this.directory,
      rules,
      now: () => this.now(),
      onCommitted: (changes) => this.#take(changes),
      onBehind: () => this.#reload(),
      onBatch: (commands) => {
        for (const observer of this.#observers) observer.onBatch?.(commands);
      },
    });
  }

  now(): Moment {
    return { wallMs: this.#options.env.now().getTime(), monotonicMs: this.#options.env.monotonicMs() };
  }

  /** The half of now that deadlines are counted on, for those who ask very often. */
  monotonicMs(): number {
    return this.#options.env.monotonicMs();
  }

  /** True between start and stop. */
  get isReady(): boolean {
    return this.#isRunning;
  }

  observe(observer: Observer): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  async start(): Promise<void> {
    const { storage } = this.#options;
    // Followed before it is loaded, so that nothing falls between the two.
    this.#stopFollowing = await storage.follow({
      onChanges: (sequence) => this.#catchUp(sequence),
      onBeats: (ids) => this.#hearElsewhere(ids),
      onGap: () => this.#catchUp(Number.POSITIVE_INFINITY),
    });
    this.#begin(await storage.load());
    this.#isRunning = true;
    this.#catchUp(this.#wantedSequence);
    this.#every(this.#sweepMs, () => {
      this.#sweeping = this.#sweep();
      return this.#sweeping;
    });
    this.#every(this.#options.beatSaveMs, () => this.saveBeats());
  }

  /** Finishes what is under way and writes down the last heartbeats. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    for (const cancel of this.#timers.splice(0)) cancel();
    await this.#stopFollowing?.();
    await this.#sweeping;
    await this.#writer.idle();
    await this.saveBeats();
  }

  submit(command: Command): Promise<Answer> {
    return this.#writer.submit(command);
  }

  /** A heartbeat. In good standing it costs no write; otherwise it is durable when the promise resolves. */
  ping(id: string, by: Identity): Answer | Promise<Answer> {
    const entry = this.directory.get(id);
    if (entry === undefined) return unknown;
    const { instance } = entry;
    if (!by.isAdministrator && instance.owner !== "" && instance.owner !== by.name)
      return { kind: "Refused", reason: "NotOwner", message: `service ${id} was registered by another identity` };
    if (!instance.pinged || instance.missing || instance.presence.kind !== "Registered") return this.#comeBack(id, by);
    this.#beat(entry);
    return { kind: "Done", instance };
  }

  saveBeats(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#saveBeats());
    return this.#saving;
  }

  async #comeBack(id: string, by: Identity): Promise<Answer> {
    const answer = await this.submit({ kind: "Return", id, by });
    const entry = this.directory.get(id);
    if (answer.kind === "Done" && entry) this.#beat(entry);
    return answer;
  }

  #beat(entry: Entry): void {
    this.directory.beat(entry, this.now());
    this.#unsaved.add(entry);
    for (const observer of this.#observers) observer.onPing?.(entry);
  }

  async #saveBeats(): Promise<void> {
    const entries = [...this.#unsaved].filter((entry) => this.directory.get(entry.instance.target.id) === entry);
    this.#unsaved = new Set();
    for (let start = 0; start < entries.length; start += beatsPerSave) {
      const part = entries.slice(start, start + beatsPerSave);
      // Each part's own, because the parts before it took their time.
      const nowMs = this.now().monotonicMs;
      const beats = part.map(({ instance, heardAtMs }) => ({
        id: instance.target.id,
        ageMs: Math.max(0, nowMs - heardAtMs),
      }));
      try {
        await this.#options.storage.saveBeats(beats);
      } catch (error) {
        for (const entry of part) if (this.directory.get(entry.instance.target.id) === entry) this.#unsaved.add(entry);
        this.#options.log.warn("heartbeats could not be saved and will be tried again", { count: part.length, error });
      }
    }
  }

  /** Takes over changes that are durable, each once, in their order. */
  #take(changes: readonly Change[]): void {
    const fresh = changes.filter(({ sequence }) => sequence > this.directory.sequence);
    if (fresh.length === 0) return;
    const now = this.now();
    for (const change of fresh) {
      const entry = this.directory.apply(change, now);
      if (entry === undefined) continue;
      this.#schedule(entry);
      if (entry.instance.missing) this.#contradict(entry);
    }
    for (const observer of this.#observers) observer.onChanges?.(fresh);
    this.#prune();
  }

  /** Another replica lost patience with a service that we have just heard. */
  #contradict(entry: Entry): void {
    const { instance, heardElsewhere } = entry;
    if (heardElsewhere || instance.presence.kind === "Deregistered" || !this.#unsaved.has(entry)) return;
    if (silenceAt(entry, this.now().monotonicMs, this.rules.expiry) !== "Alive") return;
    this.submit({ kind: "Return", id: instance.target.id, by: anyone }).catch((error: unknown) =>
      this.#options.log.warn("a service that was heard could not be brought back", { id: instance.target.id, error }),
    );
  }

  #schedule(entry: Entry): void {
    const dueAtMs = nextDueAtMs(entry, entry.hiddenSinceMs, this.rules.expiry);
    if (dueAtMs === undefined || (entry.scheduledAtMs !== undefined && entry.scheduledAtMs <= dueAtMs)) return;
    entry.scheduledAtMs = dueAtMs;
    this.#due.add(entry, dueAtMs);
  }

  async #sweep(): Promise<void> {
    const nowMs = this.now().monotonicMs;
    const due: Entry[] = [];
    for (const entry of this.#due.take(nowMs)) {
      entry.scheduledAtMs = undefined;
      if (this.directory.get(entry.instance.target.id) !== entry) continue;
      const dueAtMs = nextDueAtMs(entry, entry.hiddenSinceMs, this.rules.expiry);
      if (dueAtMs === undefined) continue;
      if (dueAtMs > nowMs) this.#schedule(entry);
      else due.push(entry);
    }
    for (let start = 0; start < due.length; start += expiriesAtOnce) {
      const part = due.slice(start, start + expiriesAtOnce);
      const checks = part.map((entry) => this.submit({ kind: "CheckExpiry", id: entry.instance.target.id }));
      const results = await Promise.allSettled(checks);
      const failed = results.find((result) => result.status === "rejected");
      if (failed)
        this.#options.log.warn("services could not be expired and will be tried again", { error: failed.reason });
      for (const entry of part) if (this.directory.get(entry.instance.target.id) === entry) this.#schedule(entry);
    }
  }

  #hearElsewhere(ids: readonly string[]): void {
    const now = this.now();
    for (const id of ids) {
      const entry = this.directory.get(id);
      if (entry) this.directory.beatElsewhere(entry, 0, now);
    }
  }

  #catchUp(sequence: number): void {
    this.#wantedSequence = Math.max(this.#wantedSequence, sequence);
    if (!this.#isRunning) return;
    this.#catchingUp ??= this.#readOn()
      .catch((error: unknown) => this.#options.log.warn("the registry's log could not be read", { error }))
      .finally(() => {
        this.#catchingUp = undefined;
      });
  }

  async #readOn(): Promise<void> {
    while (this.directory.sequence < this.#wantedSequence) {
      const after = this.directory.sequence;
      const { changes } = await this.#options.storage.changesAfter(after, changesPerRead);
      const news = changes.filter((change) => change.sequence > this.directory.sequence);
      if (changes.length === 0) {
        this.#wantedSequence = 0;
        return;
      }
      if (news[0] !== undefined && news[0].sequence > this.directory.sequence + 1) {
        await this.#reload();
        continue;
      }
      this.#take(news);
    }
  }

  #begin(loaded: Loaded): void {
    const now = this.now();
    for (const { instance, lastSeenMs } of loaded.services)
      this.#schedule(this.directory.load(instance, lastSeenMs, now));
    this.directory.ready();
    this.directory.sequence = loaded.sequence;
    for (const observer of this.#observers) observer.onReset?.();
  }

  async #reload(): Promise<void> {
    const loaded = await this.#options.storage.load();
    this.directory.clear();
    this.#unsaved.clear();
    this.#begin(loaded);
  }

  #prune(): void {
    const { maxKeptChanges, storage, log } = this.#options;
    const upTo = this.directory.sequence - maxKeptChanges;
    // It looks at every service's last change: the more services, the rarer, so that each change pays the same.
    if (upTo - this.#prunedUpTo < Math.max(maxKeptChanges / 10, this.directory.size / 4)) return;
    this.#prunedUpTo = upTo;
    storage.prune(upTo).catch((error: unknown) => log.warn("old changes could not be removed", { error }));
  }

  #every(periodMs: number, work: () => Promise<void>): void {
    const slot = this.#timers.length;
    const again = (): void => {
      this.#timers[slot] = this.#options.env.setTimer(periodMs, () => {
        work()
          .catch((error: unknown) => this.#options.log.error("the registry's timer failed", { error }))
          .finally(() => {
            if (this.#isRunning) again();
          });
      });
    };
    again();
  }
}

const unknown: Answer = { kind: "Unknown" };
const minSweepMs = 20;
const maxSweepMs = 1_000;
const beatsPerSave = 5_000;
const expiriesAtOnce = 5_000;
const changesPerRead = 1_000;
