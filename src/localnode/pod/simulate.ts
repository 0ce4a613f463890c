import { formatDurationMs, parseDurationMs } from "../../kube/duration.ts";
import { labelKeyErrors } from "../../kube/names.ts";
import { type Parsed, parsed, refused } from "../../kube/parsed.ts";

/**
 * How a container that is only stood in for behaves. The annotation holds rules, separated by `;`, each for one
 * container (`web: ready-after=5s`) or, without a name, for all that have no rule of their own:
 *
 *     rule  := [container ":"] word*
 *     word  := "start-after=" D | "ready-after=" D | "never-ready" | "never-start"
 *            | "exit=" CODE | "oom" | "after=" D | "stop-after=" D | "unschedulable" ["=" RESOURCE]
 */
export const simulateAnnotation = "localnode.capstan.dev/simulate";

export interface Behaviour {
  /** The container is being created for so long. */
  readonly startAfterMs: number;
  /** As if the image could not be pulled. */
  readonly neverStart: boolean;
  /** From the start to readiness; undefined: never. */
  readonly readyAfterMs: number | undefined;
  /** Ends by itself, so long after its start; `isOutOfMemory`: as if it was killed for taking too much. */
  readonly exit?: { readonly code: number; readonly afterMs: number; readonly isOutOfMemory?: true };
  /** From being asked to stop to having stopped. */
  readonly stopAfterMs: number;
  /** As if no node had enough of this resource; said for one container, it holds for its whole pod. */
  readonly lacking?: string;
}

export const plainBehaviour: Behaviour = { startAfterMs: 0, neverStart: false, readyAfterMs: 0, stopAfterMs: 0 };

export interface Simulation {
  of(container: string): Behaviour;
  /** The resource of which no node has enough for the pod. */
  readonly unschedulable?: string;
}

export function parseSimulation(text: string | undefined): Parsed<Simulation> {
  const rules = new Map<string, Behaviour>();
  if ((text?.length ?? 0) > maxLength) return refused(`${simulateAnnotation}: longer than ${maxLength} characters`);
  for (const rule of (text ?? "").split(";")) {
    const named = /^\s*([a-z0-9][-a-z0-9]*)\s*:(.*)$/s.exec(rule);
    const behaviour = parseWords((named?.[2] ?? rule).split(/[\s,]+/).filter((word) => word !== ""));
    if (!behaviour.ok) return behaviour;
    if (rule.trim() !== "") rules.set(named?.[1] ?? "", behaviour.value);
  }
  const unschedulable = [...rules.values()].find(({ lacking }) => lacking !== undefined)?.lacking;
  return parsed({
    of: (container) => rules.get(container) ?? rules.get("") ?? plainBehaviour,
    ...(unschedulable !== undefined && { unschedulable }),
  });
}

const maxLength = 4096;

function parseWords(words: readonly string[]): Parsed<Behaviour> {
  let behaviour: Behaviour = plainBehaviour;
  let exitAfterMs: number | undefined;
  for (const word of words) {
    const [name = "", value] = splitOnce(word);
    if (name === "never-ready" && value === undefined) behaviour = { ...behaviour, readyAfterMs: undefined };
    else if (name === "never-start" && value === undefined) behaviour = { ...behaviour, neverStart: true };
    else if (name === "oom" && value === undefined)
      behaviour = { ...behaviour, exit: { code: killedExitCode, afterMs: 0, isOutOfMemory: true } };
    else if (name === "unschedulable") {
      if (value !== undefined && labelKeyErrors(value).length > 0)
        return wrong(word, "a resource is named as in requests, such as memory");
      behaviour = { ...behaviour, lacking: value ?? "cpu" };
    } else if (name === "exit") {
      if (!/^\d{1,3}$/.test(value ?? "") || Number(value) > 255)
        return wrong(word, "an exit code is a number from 0 to 255");
      behaviour = { ...behaviour, exit: { code: Number(value), afterMs: 0 } };
    } else if (durations.has(name)) {
      const duration = parseDurationMs(value ?? "");
      if (!duration.ok || duration.value < 0)
        return wrong(word, `${name} takes a duration such as ${formatDurationMs(5000)}`);
      if (name === "after") exitAfterMs = duration.value;
      if (name === "start-after") behaviour = { ...behaviour, startAfterMs: duration.value };
      if (name === "ready-after") behaviour = { ...behaviour, readyAfterMs: duration.value };
      if (name === "stop-after") behaviour = { ...behaviour, stopAfterMs: duration.value };
    } else return wrong(word, `known words are ${known}`);
  }
  if (exitAfterMs === undefined) return parsed(behaviour);
  if (behaviour.exit === undefined)
    return wrong("after", "it says when `exit=CODE` or `oom` happens, which is missing");
  return parsed({ ...behaviour, exit: { ...behaviour.exit, afterMs: exitAfterMs } });
}

const durations: ReadonlySet<string> = new Set(["start-after", "ready-after", "stop-after", "after"]);
const known =
  "start-after=5s, ready-after=5s, never-ready, never-start, exit=1, oom, after=2s, stop-after=5s and unschedulable";
/** 128 and SIGKILL. */
const killedExitCode = 137;

const wrong = (word: string, why: string): Parsed<Behaviour> =>
  refused(`${simulateAnnotation}: ${JSON.stringify(word)} is not understood: ${why}`);

function splitOnce(word: string): readonly [string, string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
