import type { Env } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import { type DiscoveredResource, readDiscovery } from "./discovery-documents.ts";
import type { Exchange } from "./exchange.ts";
import { unlessAborted } from "./scope.ts";

/**
 * Which kinds the server serves. Read as a whole, kept, and read again when somebody asks for a kind that is not there
 * (its CRD may be new) or when it has grown old (a CRD may be gone), but never more often than the server can bear.
 */
export interface Discovery {
  /** In the version that the server prefers. A kind installed less than `minRefreshMs` ago may be missed: ask again. */
  find(group: string, kind: string, signal?: AbortSignal): Promise<KindRef | undefined>;
  /** Everything; within a group the preferred version first. */
  all(signal?: AbortSignal): Promise<readonly DiscoveredResource[]>;
}

/** A miss reads again at most this often. */
export const minRefreshMs = 2_000;
/** What was found is believed this long. */
export const maxAgeMs = 10 * 60_000;

export function createDiscovery(exchange: Exchange, env: Env): Discovery {
  let known: { readonly resources: readonly DiscoveredResource[]; readonly readAtMs: number } | undefined;
  let reading: Promise<readonly DiscoveredResource[]> | undefined;

  const readOnce = async (): Promise<readonly DiscoveredResource[]> => {
    try {
      const resources = await readDiscovery(exchange, known?.resources ?? []);
      known = { resources, readAtMs: env.monotonicMs() };
      return resources;
    } finally {
      reading = undefined;
    }
  };
  // Everybody who asks meanwhile waits for the same answer; one who gives up does not end it for the others.
  const read = (signal?: AbortSignal): Promise<readonly DiscoveredResource[]> => {
    reading ??= readOnce();
    return unlessAborted(reading, signal);
  };
  const ageMs = (): number => (known ? env.monotonicMs() - known.readAtMs : Number.POSITIVE_INFINITY);
  const current = async (signal?: AbortSignal): Promise<readonly DiscoveredResource[]> =>
    known && ageMs() < maxAgeMs ? known.resources : read(signal);

  return {
    async find(group, kind, signal) {
      const found = pick(await current(signal), group, kind);
      if (found || ageMs() < minRefreshMs) return found;
      return pick(await read(signal), group, kind);
    },
    all: current,
  };
}

function pick(resources: readonly DiscoveredResource[], group: string, kind: string): KindRef | undefined {
  const found = resources.find((resource) => resource.group === group && resource.kind === kind);
  if (!found) return undefined;
  return { group, kind, version: found.version, plural: found.plural, namespaced: found.namespaced };
}
