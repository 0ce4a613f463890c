import { sleep } from "../../../src/env/env.ts";
import type { SimulatedApi } from "../simulated-api.ts";
import type { Replicas } from "./replicas.ts";

/** P18: somebody who follows the feed and goes on where it was, at whichever replica answers. */
export class FeedReader {
  readonly violations: string[] = [];
  readonly registered = new Set<string>();
  events = 0;
  readonly #api: SimulatedApi;
  readonly #replicas: Replicas;
  #last: number | undefined;

  constructor(api: SimulatedApi, replicas: Replicas) {
    this.#api = api;
    this.#replicas = replicas;
    void this.#read();
  }

  async #read(): Promise<never> {
    for (;;) {
      await sleep(this.#api.env, 300);
      const replica = this.#replicas.any();
      if (replica === undefined) continue;
      const gone = new AbortController();
      const headers: Record<string, string> = {};
      if (this.#last !== undefined) headers["last-event-id"] = String(this.#last);
      const target = "/api/v1/capabilities/notifications?resume=true";
      await new Promise<void>((resolve) => void replica.clock.setTimer(1, resolve));
      const answer = await replica.registry.handle({ method: "GET", target, headers, signal: gone.signal });
      if (answer?.status !== 200) throw new Error(`the feed answers ${answer?.status}`);
      const frames = answer.body[Symbol.asyncIterator]();
      // A replica that has died says nothing any more, not even that all is quiet.
      const quiet = (): Promise<undefined> => sleep(this.#api.env, silentMs).then(() => undefined);
      for (;;) {
        const next = await Promise.race([frames.next(), quiet()]);
        if (next === undefined || next.done) break;
        for (const frame of Buffer.from(next.value).toString().split("\n\n")) this.#take(frame);
      }
      gone.abort();
    }
  }

  #take(frame: string): void {
    const field = (name: string): string | undefined => new RegExp(`^${name}:(.*)$`, "m").exec(frame)?.[1];
    const [id, event, data] = [field("id"), field("event"), field("data")];
    if (id === undefined) return;
    const number = Number(id);
    const last = this.#last ?? 0;
    if (number < last || (number === last && event !== undefined))
      this.violations.push(`P18 the feed says ${event ?? "bookmark"} ${number} after ${last}`);
    this.#last = number;
    if (event === undefined) return;
    this.events++;
    const { id: service } = JSON.parse(data ?? "{}") as { readonly id: string };
    if (event === "REGISTER") this.registered.add(service);
    if (event === "DEREGISTER") this.registered.delete(service);
    if (event === "GAP") this.violations.push("P18 the feed has a gap, and the log reaches back to its beginning");
  }
}

/** Longer than the registry is ever quiet. */
const silentMs = 20_000;
