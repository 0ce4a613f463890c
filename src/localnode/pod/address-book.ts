import { Pod } from "../../api/builtin/pod.ts";
import type { Container } from "../../api/builtin/pod-spec.ts";
import type { Read } from "../../runtime/read.ts";
import { podAddressIndex } from "./pod-index.ts";

/**
 * The address of each pod. One with real processes has the node's, because that is where it can be reached; all others
 * get one of their own out of 10.244.0.0/16, as long as they live.
 */
export class PodAddressBook {
  readonly #nodeAddress: string;
  readonly #taken = new Map<string, string>();
  #next = 0;

  constructor(nodeAddress: string) {
    this.#nodeAddress = nodeAddress;
  }

  of(pod: Pod, read: Read, needsProcess: (container: Container) => boolean): string {
    const { uid = "" } = pod.metadata;
    const known = pod.status?.podIP || this.#taken.get(uid);
    if (known) return known;
    if (pod.spec.hostNetwork || pod.spec.containers.some(needsProcess)) return this.#nodeAddress;
    const inUse = new Set(this.#taken.values());
    for (let tries = 0; tries < addressCount; tries++) {
      const address = addressAt(this.#next);
      this.#next = (this.#next + 1) % addressCount;
      if (inUse.has(address) || read.byIndex(Pod, podAddressIndex, address).length > 0) continue;
      this.#taken.set(uid, address);
      return address;
    }
    throw new Error(`all ${addressCount} pod addresses are taken`);
  }

  release(uid: string): void {
    this.#taken.delete(uid);
  }
}

/** The first few are left out, as every network does. */
const addressCount = 65_000;
const addressAt = (index: number): string => {
  const offset = index + 10;
  return `10.244.${(offset >> 8) & 255}.${offset & 255}`;
};
