import type { Moment } from "../model/decide.ts";
import type { Entry } from "../model/entry.ts";
import { type ExpiryLimits, healthAt, isHeardAt, isLiveAt } from "../model/expiry.ts";
import type { Dialect, StateJson } from "./dialect.ts";
import { encodeState } from "./dialect.ts";

/**
 * ActivityRecord as a dialect writes it. In A and S there is none before the first heartbeat or report, nothing is ever
 * pending, and to be active is to be heard: reports of health do not touch it.
 */
export function encodeActivity(entry: Entry, dialect: Dialect, now: Moment, limits: ExpiryLimits): ActivityJson | null {
  const { instance, lastSeenMs } = entry;
  const { id } = instance.target;
  const lastSeen = new Date(lastSeenMs ?? instance.registeredAtMs).toISOString();
  if (dialect === "b") {
    const states = instance.states.map((state) => encodeState(state, dialect));
    const healthStatus = healthAt(entry, now.monotonicMs, limits);
    return { id, lastSeen, healthStatus, states, active: isLiveAt(entry, now.monotonicMs, limits) };
  }
  const known = instance.states.filter(({ health }) => health !== "PENDING");
  if (!instance.pinged && known.length === 0) return null;
  const states = known.map((state) => encodeState(state, dialect));
  return { id, lastSeen, active: isHeardAt(entry, now.monotonicMs, limits), states };
}

export interface ActivityJson {
  readonly id: string;
  readonly lastSeen: string;
  readonly healthStatus?: string;
  readonly states: readonly StateJson[];
  readonly active: boolean;
}
