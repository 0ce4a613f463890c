import pg from "pg";
import { type Env, sleep } from "../env/env.ts";
import type { Listener } from "./database.ts";

/** One connection that only listens, and comes back by itself. */
export class PostgresListener {
  readonly #env: Env;
  readonly #config: pg.ClientConfig;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #stop = new AbortController();
  #client: pg.Client | undefined;
  #running: Promise<void> | undefined;
  #ready: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(env: Env, config: pg.ClientConfig) {
    this.#env = env;
    this.#config = config;
  }

  async add(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const isNew = !this.#listeners.has(channel);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    this.#running ??= this.#run();
    await this.#ready.promise;
    // A connection that breaks here is replaced by one that listens to everything in the list.
    if (isNew) await this.#client?.query(`LISTEN ${quoted(channel)}`).catch(() => undefined);
    return async () => void listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("closed"));
    this.#ready.promise.catch(() => undefined);
    this.#ready.reject(new Error("closed"));
    await this.#client?.end().catch(() => undefined);
    await this.#running;
  }

  async #run(): Promise<void> {
    let isFirst = true;
    let delayMs = minDelayMs;
    while (!this.#stop.signal.aborted) {
      const client = new pg.Client({ ...this.#config, keepAlive: true });
      const ended = new Promise<void>((resolve) => {
        client.once("end", resolve);
        client.once("error", () => resolve());
      });
      client.on("error", () => undefined);
      client.on("notification", ({ channel, payload }) => {
        for (const listener of this.#listeners.get(channel) ?? []) listener.onMessage(payload ?? "");
      });
      try {
        await client.connect();
        this.#client = client;
        for (const channel of this.#listeners.keys()) await client.query(`LISTEN ${quoted(channel)}`);
        this.#ready.resolve();
        delayMs = minDelayMs;
        if (!isFirst) for (const listeners of this.#listeners.values()) for (const each of listeners) each.onGap();
        isFirst = false;
        await ended;
      } catch {
        // Not reachable: the next attempt comes after the delay, and writers say loudly what is wrong.
      }
      this.#client = undefined;
      client.end().catch(() => undefined);
      await sleep(this.#env, delayMs, this.#stop.signal).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    }
  }
}

const minDelayMs = 50;
const maxDelayMs = 5_000;
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
