import type { Condition } from "../../src/kube/condition.ts";
import { type Tone, toneOf } from "./tone.ts";

/** A moment in the life of an object. */
export interface Moment {
  readonly time: string;
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  readonly source: "created" | "condition" | "event" | "phase";
}

export interface HappenedEvent {
  readonly type?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly time: string;
  readonly count?: number | undefined;
}

interface Life {
  readonly createdAt: string | undefined;
  readonly phase: string | undefined;
  readonly phaseSince: string | undefined;
  readonly conditions: readonly Condition[];
  readonly events: readonly HappenedEvent[];
}

/** What conditions and events say of the past, the latest first. */
export function timelineOf({ createdAt, phase, phaseSince, conditions, events }: Life): readonly Moment[] {
  const moments: Moment[] = [];
  if (createdAt) moments.push({ time: createdAt, tone: "quiet", title: "Created", text: "", source: "created" });
  if (phase && phaseSince)
    moments.push({ time: phaseSince, tone: toneOf(phase), title: `Became ${phase}`, text: "", source: "phase" });
  for (const { type, status, reason, message, lastTransitionTime } of conditions)
    if (lastTransitionTime)
      moments.push({
        time: lastTransitionTime,
        tone: toneOfCondition(type, status),
        title: `${type} is ${status}`,
        text: [reason, message].filter(Boolean).join(": "),
        source: "condition",
      });
  for (const { type, reason = "", message = "", time, count = 1 } of events)
    moments.push({
      time,
      tone: type === "Warning" ? "bad" : "quiet",
      title: reason,
      text: count > 1 ? `${message} (${count} times)` : message,
      source: "event",
    });
  // What happened in the same second is told in the order in which it is listed here.
  return moments
    .map((moment, index) => ({ moment, index, at: Date.parse(moment.time) }))
    .sort((a, b) => Math.floor(b.at / 1000) - Math.floor(a.at / 1000) || b.index - a.index)
    .map(({ moment }) => moment);
}

function toneOfCondition(type: string, status: string): Tone {
  if (status !== "True") return "quiet";
  return /degraded/i.test(type) ? "bad" : type === "Progressing" ? "wait" : "good";
}
