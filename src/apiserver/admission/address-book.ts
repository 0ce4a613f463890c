import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { ServiceAllocator, ServiceClaims } from "../builtin/index.ts";
import { StatusError } from "../protocol/status-error.ts";
import type { Store } from "../storage/store.ts";

interface Service extends KubeObject {
  readonly spec?: {
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ports?: readonly { readonly nodePort?: number }[];
  };
}

/** 10.96.0.0/16 without its network address, the API's own address and its broadcast address. */
const firstAddress = 2;
const addressCount = 65_533;
const firstNodePort = 30_000;
const nodePortCount = 2768;

/** Hands out addresses and node ports of services: one that is taken, or was handed out a moment ago, is not given again. */
export class AddressBook implements ServiceAllocator, ServiceClaims {
  readonly #env: Env;
  readonly #store: Store;
  /** Given to services that may not be stored yet. */
  readonly #recent = new Set<string>();

  constructor(env: Env, store: Store) {
    this.#env = env;
    this.#store = store;
  }

  clusterIp(): string {
    const taken = new Set(this.#services().flatMap(({ spec }) => [spec?.clusterIP ?? "", ...(spec?.clusterIPs ?? [])]));
    const address = this.#pick(addressCount, (index) => {
      const number = firstAddress + index;
      const candidate = `10.96.${number >> 8}.${number & 255}`;
      return taken.has(candidate) ? undefined : candidate;
    });
    if (address === undefined) throw exhausted("cluster IPs");
    return address;
  }

  nodePort(): number {
    const taken = new Set(this.#services().flatMap(({ spec }) => (spec?.ports ?? []).map(({ nodePort }) => nodePort)));
    const port = this.#pick(nodePortCount, (index) => {
      const candidate = firstNodePort + index;
      return taken.has(candidate) ? undefined : String(candidate);
    });
    if (port === undefined) throw exhausted("node ports");
    return Number(port);
  }

  refuseAddress(address: string): string | undefined {
    if (!address.startsWith("10.96.")) return "the provided network does not match the current range";
    const isTaken = this.#services().some(
      ({ spec }) => spec?.clusterIP === address || spec?.clusterIPs?.includes(address),
    );
    return isTaken ? "provided IP is already allocated" : undefined;
  }

  refusePort(port: number): string | undefined {
    const last = firstNodePort + nodePortCount - 1;
    if (port < firstNodePort || port > last) {
      return `provided port is not in the valid range. The range of valid ports is ${firstNodePort}-${last}`;
    }
    const isTaken = this.#services().some(({ spec }) => spec?.ports?.some(({ nodePort }) => nodePort === port));
    return isTaken ? "provided port is already allocated" : undefined;
  }

  #services(): readonly Service[] {
    return this.#store
      .collection("services")
      .range()
      .map(({ object }) => object as Service);
  }

  #pick(count: number, candidateAt: (index: number) => string | undefined): string | undefined {
    const start = Math.floor(this.#env.random() * count);
    for (let step = 0; step < count; step++) {
      const candidate = candidateAt((start + step) % count);
      if (candidate === undefined || this.#recent.has(candidate)) continue;
      if (this.#recent.size >= maxRecent) this.#recent.clear();
      this.#recent.add(candidate);
      return candidate;
    }
    return undefined;
  }
}

const maxRecent = 1024;

const exhausted = (what: string): StatusError =>
  new StatusError(500, "InternalError", `Internal error occurred: the range of ${what} is full`);
