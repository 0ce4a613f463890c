import type { Env } from "../../src/env/env.ts";
import { sleep } from "../../src/env/env.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../src/http/message.ts";
import { isOfInterest, pathParts } from "./journal.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { WireFault } from "./wire-faults.ts";
import { faultyAnswer, matches, rewritten } from "./wire-faults.ts";
import { faultyStream } from "./wire-streams.ts";

/**
 * The way between one process and the API: slow, lossy and forgetful as the plan says. A process that has died hears
 * nothing any more, and what it still sends does not arrive.
 *
 *     process ──▶ crash point? ──▶ clogged? ──▶ latency ──▶ fault? ──▶ API ──▶ latency ──▶ process, if it still lives
 */
export class Wire {
  readonly handle: HttpHandler = (request) => this.#exchange(request);
  /** Writes sent by this process so far, leases and events aside: the crash points. */
  writes = 0;
  readonly faults: WireFault[] = [];
  readonly #options: WireOptions;
  #unclog: (() => void) | undefined;
  #clogged: Promise<void> | undefined;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  clog(): void {
    if (this.#clogged) return;
    this.#clogged = new Promise((resolve) => {
      this.#unclog = resolve;
    });
  }

  /** Everything that waited goes on at once, in the order in which it came. */
  release(): void {
    this.#unclog?.();
    this.#clogged = undefined;
  }

  heal(): void {
    this.faults.length = 0;
    this.release();
  }

  async #exchange(request: HttpRequest): Promise<HttpResponse> {
    const { clock, base, api, revision } = this.#options;
    const sentAtMs = base.monotonicMs();
    const crash = this.#crashPoint(request);
    if (crash === "before") this.#options.onCrash();
    if (clock.hasEnded) return never();
    if (this.#clogged) await this.#clogged;
    await sleep(base, this.#latencyMs(request));
    // What the caller has given up does not arrive any more, and neither does what a dead process has sent.
    if (clock.hasEnded) return never();
    request.signal?.throwIfAborted();
    const index = this.faults.findIndex((fault) => matches(fault, request));
    const fault = this.faults[index];
    if (fault !== undefined && --fault.times <= 0) this.faults.splice(index, 1);
    const send = (): Promise<HttpResponse> => api(rewritten(fault, request, revision()), sentAtMs);
    const response = await (fault === undefined ? send() : faultyAnswer(fault, request, base, send));
    if (crash === "after") this.#options.onCrash();
    return this.#delivered(request, response);
  }

  async #delivered(request: HttpRequest, response: HttpResponse): Promise<HttpResponse> {
    await this.#arrival(request);
    if (!isWatch(request)) return response;
    return { ...response, body: faultyStream(response.body, () => this.faults, this.#options, request.target) };
  }

  /** Resolves on the clock of the process: never when it has died, late when it is stopped. */
  #arrival(request: HttpRequest): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.setTimer(this.#latencyMs(request), resolve));
  }

  #latencyMs(request: HttpRequest): number {
    return isWatch(request) ? 1 : 1 + Math.floor(this.#options.random() * maxLatencyMs);
  }

  #crashPoint(request: HttpRequest): "before" | "after" | undefined {
    if (request.method === "GET" || !isOfInterest(pathParts(request.target))) return undefined;
    this.writes++;
    return this.#options.crashAt(this.writes);
  }
}

export interface WireOptions {
  readonly clock: ProcessClock;
  /** The network's time, which does not depend on any process. */
  readonly base: Env;
  readonly random: () => number;
  readonly api: (request: HttpRequest, sentAtMs: number) => Promise<HttpResponse>;
  /** The newest version that the API has told anybody. */
  readonly revision: () => number;
  readonly crashAt: (write: number) => "before" | "after" | undefined;
  readonly onCrash: () => void;
}

const maxLatencyMs = 12;

export const isWatch = ({ target }: HttpRequest): boolean => /[?&]watch=(true|1)(&|$)/.test(target);

const never = <T>(): Promise<T> => new Promise(() => undefined);
