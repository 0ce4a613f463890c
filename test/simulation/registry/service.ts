import { sleep } from "../../../src/env/env.ts";
import { discoveryPath } from "../../../src/registry/registry-for-tests.ts";
import type { SimulatedApi } from "../simulated-api.ts";
import type { Heard, Replicas } from "./replicas.ts";

/** A service as its SDK makes it behave: it registers, is heard every few seconds, and asks again where nobody answers. */
export class SimulatedService {
  readonly name: string;
  state: "Unborn" | "Beating" | "Silent" | "Gone" = "Unborn";
  /** When a replica last took a heartbeat, and since when none was missing. */
  heardAtMs = Number.NEGATIVE_INFINITY;
  steadySinceMs = Number.POSITIVE_INFINITY;
  /** When a registration was last carried out: until the next heartbeat nothing is known of it. */
  registeredAtMs = Number.NEGATIVE_INFINITY;
  goneAtMs = Number.POSITIVE_INFINITY;
  readonly #api: SimulatedApi;
  readonly #replicas: Replicas;

  constructor(name: string, api: SimulatedApi, replicas: Replicas) {
    this.name = name;
    this.#api = api;
    this.#replicas = replicas;
    void this.#live();
  }

  /** In a life of its own: whoever starts a service does not wait for the registry. */
  register(): void {
    this.state = "Beating";
    this.goneAtMs = Number.POSITIVE_INFINITY;
    void this.#register();
  }

  fallSilent(): void {
    if (this.state === "Beating") this.state = "Silent";
  }

  beHeardAgain(): void {
    if (this.state === "Silent") this.state = "Beating";
  }

  sayGoodbye(): void {
    if (this.state === "Unborn" || this.state === "Gone") return;
    this.state = "Gone";
    void this.#untilAnswered("/deregister", { id: this.name }).then((atMs) => {
      if (this.state === "Gone") this.goneAtMs = atMs;
    });
  }

  /** Heard after it was registered: only then does its silence count. */
  get isKnownByHeartbeat(): boolean {
    return this.heardAtMs > this.registeredAtMs;
  }

  async #register(): Promise<void> {
    const port = 8_000 + this.name.length;
    const target = { id: this.name, serviceName: this.name, serviceType: "tool-invoker", host: "service", port };
    await this.#untilAnswered("/register", target, ({ atMs }) => {
      this.registeredAtMs = Math.max(this.registeredAtMs, atMs);
    });
  }

  async #live(): Promise<never> {
    for (;;) {
      await sleep(this.#api.env, beatMs);
      // Asked again at once, as an SDK with a time limit does; the first one may still arrive.
      if (this.state === "Beating" && !(await this.#beat())) await this.#beat();
    }
  }

  async #beat(): Promise<boolean> {
    const replica = this.#replicas.any();
    const path = `${discoveryPath}/heartbeats`;
    const answer =
      replica && (await this.#replicas.ask(replica, "POST", path, [this.name], (taken) => this.#wasHeard(taken)));
    if (answer?.status !== 200) return false;
    if (isUnknown(answer) && this.state === "Beating") await this.#register();
    return true;
  }

  /** Also one that was long on its way: the registry cannot know when it was sent. */
  #wasHeard(answer: Heard): void {
    if (answer.status !== 200 || isUnknown(answer)) return;
    if (answer.atMs - this.heardAtMs > steadyGapMs) this.steadySinceMs = answer.atMs;
    this.heardAtMs = Math.max(this.heardAtMs, answer.atMs);
  }

  /** When it was carried out. */
  async #untilAnswered(path: string, body: object, taken?: (answer: Heard) => void): Promise<number> {
    for (;;) {
      const replica = this.#replicas.any();
      const answer = replica && (await this.#replicas.ask(replica, "POST", `${discoveryPath}${path}`, body, taken));
      if (answer?.status === 200) return answer.atMs;
      await sleep(this.#api.env, 500);
    }
  }
}

const isUnknown = ({ data }: Heard): boolean => (data as { readonly unknown: readonly string[] }).unknown.length > 0;

const beatMs = 4_000;
/** A heartbeat, one that nobody answered, and the one after it. */
export const steadyGapMs = 9_000;
