import type { ServiceHealth, ServiceTarget } from "../model/service.ts";
import { stateReasons } from "../model/service.ts";
import type { AddressRules } from "./address-rules.ts";
import { probeGrpc } from "./probe-grpc.ts";
import { probeHttp } from "./probe-http.ts";
import { probeTcp } from "./probe-tcp.ts";

export type ProbeKind = "tcp" | "http" | "grpc";

export interface ProbeSettings {
  readonly kind: ProbeKind;
  /** For HTTP: `/healthz`. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly rules: AddressRules;
  /** All addresses of a name. Asked once for each probe; the connection goes to an address, never to the name. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
}

/** What was found, and whether it was found out at all. */
export type ProbeResult =
  | { readonly kind: "Found"; readonly health: ServiceHealth; readonly reason: string }
  /** The rules forbid to go there; nothing is known. */
  | { readonly kind: "Forbidden"; readonly message: string };

export async function probe(target: ServiceTarget, settings: ProbeSettings): Promise<ProbeResult> {
  const { rules, resolve, kind } = settings;
  if (target.port < 1 || target.port > 65_535) return found("DOWN");
  let addresses: readonly string[];
  try {
    addresses = await resolve(target.host.replace(/^\[|\]$/g, ""));
  } catch {
    return found("DOWN");
  }
  // One forbidden address is enough: a name that points both outside and inside is a trick or a mistake.
  const bad = addresses.find((address) => !rules.isAllowed(address));
  if (bad !== undefined) return { kind: "Forbidden", message: `${target.host} is at ${bad}, where probes may not go` };
  const [address] = addresses;
  if (address === undefined) return found("DOWN");
  return found(await probes[kind]({ address, target, settings }));
}

export interface Approach {
  /** Checked and final: whatever the name says a moment later. */
  readonly address: string;
  readonly target: ServiceTarget;
  readonly settings: ProbeSettings;
}

const probes: Readonly<Record<ProbeKind, (approach: Approach) => Promise<ServiceHealth>>> = {
  tcp: probeTcp,
  http: probeHttp,
  grpc: probeGrpc,
};

const found = (health: ServiceHealth): ProbeResult => ({ kind: "Found", health, reason: reasons[health] });

const reasons: Readonly<Record<ServiceHealth, string>> = {
  HEALTHY: stateReasons.healthy,
  PENDING: stateReasons.pending,
  UNHEALTHY: stateReasons.probedUnhealthy,
  DOWN: stateReasons.probedDown,
};

/** Nobody may send us more than this. */
export const maxProbeBytes = 64 * 1024;
