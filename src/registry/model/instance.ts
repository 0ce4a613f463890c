import type { ServiceHealth, ServiceState, ServiceTarget } from "./service.ts";

/** Everything durable that the registry knows of one registered service. Replaced as a whole by each change. */
export interface Instance {
  readonly target: ServiceTarget;
  /** The identity that registered it; empty when nobody had to say who they are. */
  readonly owner: string;
  /** The namespace of the ServiceAccount that registered it. */
  readonly namespace: string | null;
  readonly registeredAtMs: number;
  /** The sequence number of its first registration: the order in which every replica lists services. */
  readonly order: number;
  /** What it said of itself last, or what a probe found. */
  readonly report: ServiceHealth;
  readonly reason: string;
  /** Whether it has sent a heartbeat since it registered; one that never did does not expire by silence. */
  readonly pinged: boolean;
  /** It fell silent: known to be down until it is heard of again. */
  readonly missing: boolean;
  readonly presence: Presence;
  readonly states: readonly ServiceState[];
  /** When it last turned out not to be healthy, on the registry's clock. */
  readonly lastFailureAtMs: number | null;
}

/** Those that are gone stay for a while, hidden, so that they come back with their id. */
export type Presence =
  | { readonly kind: "Registered" }
  /** It said goodbye; only a registration brings it back. */
  | { readonly kind: "Deregistered"; readonly atMs: number }
  /** It was taken out for its silence; a late heartbeat brings it back. */
  | { readonly kind: "Expired"; readonly atMs: number };

export const registered: Presence = { kind: "Registered" };

/** Where a service is and what it is: two registrations that agree in this are the same service coming back. */
export const placeOf = (owner: string, target: Omit<ServiceTarget, "id">): string =>
  [
    owner,
    target.serviceName,
    target.host,
    target.port,
    target.serviceType ?? "",
    target.serviceSubType ?? "",
    target.languageName ?? "",
  ].join("\n");

/** Health as durably known, time apart. */
export const recordedHealth = ({ missing, presence, report }: Instance): ServiceHealth =>
  missing || presence.kind !== "Registered" ? "DOWN" : report;
