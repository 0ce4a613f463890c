import { withDemoRepositories } from "../../src/controllers/minecraft/demo-repositories.ts";
import { WholeBody } from "../../src/http/body.ts";
import type { HttpHandler, HttpResponse } from "../../src/http/message.ts";
import type { RepositoryDeed } from "./plan.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { SimulatedApi } from "./simulated-api.ts";

/** Hangar, PaperMC and Docker Hub, as badly as a plan wants them (F46). */
export class Repository {
  deed: RepositoryDeed | undefined;
  readonly #api: SimulatedApi;
  readonly #well = withDemoRepositories(async () => answer(404, ""));

  constructor(api: SimulatedApi) {
    this.#api = api;
  }

  /** As one process reaches it: what it has asked for does not reach it when it has died. */
  of(clock: ProcessClock): HttpHandler {
    const moment = (): Promise<void> => new Promise((resolve) => void clock.setTimer(5, resolve));
    return async (request) => {
      await moment();
      this.#api.journal.note(`outside ${request.target} ${this.deed ?? "well"}`);
      const response = await this.#answer(request);
      await moment();
      return response;
    };
  }

  async #answer(request: Parameters<HttpHandler>[0]): Promise<HttpResponse> {
    switch (this.deed) {
      case undefined:
        return this.#well(request);
      case "unreachable":
        throw new Error("connect ECONNREFUSED (injected)");
      case "broken":
        return answer(500, "boom");
      case "busy":
        return answer(429, "slow down", { "retry-after": "30" });
      case "cutOff":
        return { ...(await this.#well(request)), body: torn() };
      case "empty":
        return answer(200, '{"pagination":{"count":0},"result":[],"results":[],"versions":{}}');
      case "silent":
        return new Promise((_, reject) =>
          request.signal?.addEventListener("abort", () => reject(request.signal?.reason), { once: true }),
        );
    }
  }
}

const answer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse => ({
  status,
  headers,
  body: new WholeBody(body),
});

async function* torn(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"pagination": {');
  throw new Error("read ECONNRESET (injected)");
}
