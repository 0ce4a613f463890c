import { type Instance, recordedHealth } from "./instance.ts";
import type { ServiceHealth } from "./service.ts";

/**
 * Expiry as a function of time. Silence is counted on a clock that never goes back, from the last heartbeat:
 *
 *     heartbeat ──── missingAfter ────▶ missing in action ──── deregisterAfter ────▶ deregistered ── forgetAfter ──▶ forgotten
 */
export interface ExpiryLimits {
  readonly missingAfterMs: number;
  readonly deregisterAfterMs: number;
  /** How long what is gone stays hidden. */
  readonly forgetAfterMs: number;
  /** Added for services that another replica hears: its news takes a moment. */
  readonly remoteToleranceMs: number;
}

export const defaultExpiryLimits: ExpiryLimits = {
  missingAfterMs: 90_000,
  deregisterAfterMs: 600_000,
  forgetAfterMs: 3_600_000,
  remoteToleranceMs: 5_000,
};

/** An instance and when it was last heard of. */
export interface Heard {
  readonly instance: Instance;
  /** On the monotonic clock of this process: the last heartbeat, or the start of the process if that was later. */
  readonly heardAtMs: number;
  /** Whether the last heartbeat came to another replica. */
  readonly heardElsewhere: boolean;
}

export type Silence = "Unprobed" | "Alive" | "Missing" | "Expired";

export function silenceAt(heard: Heard, nowMs: number, limits: ExpiryLimits): Silence {
  if (!heard.instance.pinged) return "Unprobed";
  const silentMs = nowMs - heard.heardAtMs - (heard.heardElsewhere ? limits.remoteToleranceMs : 0);
  if (silentMs >= limits.deregisterAfterMs) return "Expired";
  return silentMs >= limits.missingAfterMs ? "Missing" : "Alive";
}

/** In the listing: registered, and not silent for so long that only the sweep has not come round yet. */
export const isListedAt = (heard: Heard, nowMs: number, limits: ExpiryLimits): boolean =>
  heard.instance.presence.kind === "Registered" && silenceAt(heard, nowMs, limits) !== "Expired";

export function healthAt(heard: Heard, nowMs: number, limits: ExpiryLimits): ServiceHealth {
  const silence = silenceAt(heard, nowMs, limits);
  return silence === "Missing" || silence === "Expired" ? "DOWN" : recordedHealth(heard.instance);
}

/** May be handed out: registered, heard of in time, and neither unhealthy nor down. */
export function isLiveAt(heard: Heard, nowMs: number, limits: ExpiryLimits): boolean {
  if (heard.instance.presence.kind !== "Registered") return false;
  const health = healthAt(heard, nowMs, limits);
  return health === "HEALTHY" || health === "PENDING";
}

/** Sends heartbeats, and in time. */
export const isHeardAt = (heard: Heard, nowMs: number, limits: ExpiryLimits): boolean =>
  heard.instance.presence.kind === "Registered" && silenceAt(heard, nowMs, limits) === "Alive";

/** When this instance next needs a look, if nothing is heard of it; undefined: never. */
export function nextDueAtMs(heard: Heard, hiddenSinceMs: number, limits: ExpiryLimits): number | undefined {
  const { instance, heardAtMs, heardElsewhere } = heard;
  if (instance.presence.kind !== "Registered") return hiddenSinceMs + limits.forgetAfterMs;
  if (!instance.pinged) return undefined;
  const tolerance = heardElsewhere ? limits.remoteToleranceMs : 0;
  return heardAtMs + tolerance + (instance.missing ? limits.deregisterAfterMs : limits.missingAfterMs);
}
