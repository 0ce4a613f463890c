import type { Moment } from "../model/decide.ts";
import type { Entry } from "../model/entry.ts";
import { type ExpiryLimits, healthAt, isLiveAt } from "../model/expiry.ts";
import type { Dialect, StateJson } from "./dialect.ts";
import { encodeState } from "./dialect.ts";

/** ActivityRecord as a dialect writes it. A and S have none before the first heartbeat or report. */
export function encodeActivity(entry: Entry, dialect: Dialect, now: Moment, limits: ExpiryLimits): ActivityJson | null {
  const { instance, lastSeenMs } = entry;
  if (dialect !== "b" && !instance.pinged && instance.states.every(({ health }) => health === "PENDING")) return null;
  const lastSeen = new Date(lastSeenMs ?? instance.registeredAtMs).toISOString();
  const states = instance.states.map((state) => encodeState(state, dialect));
  const active = isLiveAt(entry, now.monotonicMs, limits);
  const { id } = instance.target;
  return dialect === "b"
    ? { id, lastSeen, healthStatus: healthAt(entry, now.monotonicMs, limits), states, active }
    : { id, lastSeen, active, states };
}

export interface ActivityJson {
  readonly id: string;
  readonly lastSeen: string;
  readonly healthStatus?: string;
  readonly states: readonly StateJson[];
  readonly active: boolean;
}
