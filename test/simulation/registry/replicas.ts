import { type Env, sleep } from "../../../src/env/env.ts";
import type { HttpRequest } from "../../../src/http/message.ts";
import { openAccess } from "../../../src/registry/access/access.ts";
import { createRegistry, type Registry, type RegistryOptions } from "../../../src/registry/registry.ts";
import { type Called, callRegistry } from "../../../src/registry/registry-for-tests.ts";
import { MemoryLog } from "../../../src/registry/storage/memory-log.ts";
import type { RegistryLog } from "../../../src/registry/storage/registry-log.ts";
import type { Mutation } from "../mutation.ts";
import type { ProcessClock } from "../process-clock.ts";
import type { SimulatedApi } from "../simulated-api.ts";

/** One replica of the registry, as the network sees it. */
export interface Replica {
  readonly who: string;
  readonly clock: ProcessClock;
  readonly registry: Registry;
  readonly sinceMs: number;
  /** A bug in it. */
  readonly misheard?: (target: Body) => Body;
  /** When it last answered after it had kept somebody waiting: it may not have caught up yet. */
  wokeAtMs: number;
}

/** Every replica that serves, the database behind them, and the way to them. */
export class Replicas {
  readonly #api: SimulatedApi;
  readonly #log: MemoryLog;
  #all: Replica[] = [];

  constructor(api: SimulatedApi) {
    this.#api = api;
    this.#log = new MemoryLog(() => api.env.now().getTime());
  }

  start(who: string, clock: ProcessClock, env: Env, options: Partial<RegistryOptions>, mutation?: Mutation): Registry {
    const storage = overTheWire(this.#log.replica(), clock);
    const registry = createRegistry({ env, storage, access: openAccess, ...options });
    const serve = (): void => {
      const heard = mutation?.registration;
      const misheard = heard && ((target: Body) => heard(target, env));
      this.#all.push({
        who,
        clock,
        registry,
        ...(misheard && { misheard }),
        sinceMs: this.nowMs,
        wokeAtMs: this.nowMs,
      });
    };
    // Nobody listens at its door before it has loaded everything.
    void registry.start().then(serve);
    return registry;
  }

  get nowMs(): number {
    return this.#api.env.monotonicMs();
  }

  get reachable(): readonly Replica[] {
    this.#all = this.#all.filter(({ clock }) => !clock.hasEnded);
    return this.#all;
  }

  any(): Replica | undefined {
    const { reachable } = this;
    return reachable[Math.floor(this.#api.env.random() * reachable.length)];
  }

  /** Undefined where no answer comes in time; what was asked may be carried out all the same, and late (F48). */
  async ask(
    replica: Replica,
    method: string,
    target: string,
    body?: unknown,
    /** Called even if nobody waits for the answer any more. */
    taken?: (answer: Heard) => void,
  ): Promise<Heard | undefined> {
    const { env, journal } = this.#api;
    const sentMs = env.monotonicMs();
    const { misheard } = replica;
    const sent = misheard && target.endsWith("/register") ? misheard(body as Body) : body;
    const request: HttpRequest = { method, target, headers: {}, ...(body !== undefined && { body: encoded(sent) }) };
    const arrived = new Promise<Heard>((resolve) => {
      replica.clock.setTimer(1 + Math.floor(env.random() * maxLatencyMs), () => {
        const atMs = env.monotonicMs();
        if (atMs - sentMs > wokenMs) replica.wokeAtMs = atMs;
        void callRegistry(replica.registry, request).then((answer) => {
          taken?.({ ...answer, atMs });
          resolve({ ...answer, atMs });
        });
      });
    });
    const answer = await Promise.race([arrived, sleep(env, patienceMs).then(() => undefined)]);
    journal.note(`registry ${replica.who} ${method} ${target} ${answer?.status ?? "no answer"}`);
    return answer;
  }
}

export interface Heard extends Called {
  /** When the replica began with it. */
  readonly atMs: number;
}

type Body = Readonly<Record<string, unknown>>;
const encoded = (body: unknown): Uint8Array => Buffer.from(JSON.stringify(body));
const maxLatencyMs = 12;
const wokenMs = 500;
const patienceMs = 2_000;

/** The log as a process reaches it: a dead one asks for nothing more and hears nothing, a stopped one hears it late. */
function overTheWire(log: RegistryLog, clock: ProcessClock): RegistryLog {
  const moment = (): Promise<void> => new Promise((resolve) => void clock.setTimer(1, resolve));
  const reached =
    <A extends readonly unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await moment();
      const result = await method(...args);
      await moment();
      return result;
    };
  const later =
    <A extends readonly unknown[]>(tell: (...args: A) => void) =>
    (...args: A): void =>
      void clock.setTimer(1, () => tell(...args));
  return {
    load: reached(log.load),
    commit: reached(log.commit),
    changesAfter: reached(log.changesAfter),
    saveBeats: reached(log.saveBeats),
    prune: reached(log.prune),
    follow: reached((follower) =>
      log.follow({
        onChanges: later((sequence: number) => follower.onChanges(sequence)),
        onBeats: later((ids: readonly string[]) => follower.onBeats(ids)),
        onGap: later(() => follower.onGap()),
      }),
    ),
  };
}
