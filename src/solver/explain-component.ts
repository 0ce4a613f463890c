import type { Env } from "../env/env.ts";
import { type Opened, openWithSources, shrink, sourcesOf } from "./conflict.ts";
import type { Encoded } from "./encode.ts";
import { type Explanation, forbiddenBy, type Obstacle } from "./obstacle.ts";
import { type Assignment, isKept, type Problem } from "./problem.ts";
import type { Pace } from "./rest.ts";
import type { QuestionLimits } from "./sat.ts";
import { takeTurns } from "./turns.ts";

/** Answers for the optimum of one component. Questions are answered one after the other, since they share a solver. */
export interface ComponentExplainer {
  /** Why the variable is not at least as new as the goal, which is one of its values. */
  whyNot(variable: string, goal: number, limits: ComponentLimits): Promise<Explanation>;
  /** What was asked before is still answered. */
  dispose(): void;
}

export interface ComponentLimits {
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
}

/** On this thread. The component is written out once, at the first question. */
export function explainComponent(
  component: Problem,
  optimum: Assignment,
  { env, pace }: { readonly env: Env; readonly pace?: Pace },
): ComponentExplainer {
  let opened: Opened | undefined;
  let isEnded = false;
  const inTurn = takeTurns(close);
  return {
    whyNot: (variable, goal, limits) => inTurn(() => answer(variable, goal, limits)),
    dispose() {
      isEnded = true;
      void inTurn(async () => undefined);
    },
  };

  async function answer(variable: string, goal: number, { timeLimitMs, signal }: ComponentLimits) {
    signal?.throwIfAborted();
    const limits: QuestionLimits = {
      ...(signal && { signal }),
      ...(timeLimitMs !== undefined && { deadlineMs: env.monotonicMs() + timeLimitMs }),
    };
    opened ??= await openWithSources(component, { env, ...(pace && { pace }) });
    const { encoded, sat } = opened;
    const obstacles = obstaclesOf(component, optimum, variable, encoded);
    const minimal = await shrink([...obstacles.keys()], sat, [encoded.atLeast(variable, goal)], limits);
    if (typeof minimal === "string") return { kind: minimal };
    return forbiddenBy(minimal.flatMap((literal) => obstacles.get(literal) ?? []));
  }

  function close(): void {
    if (!isEnded) return;
    opened?.sat.dispose();
    opened = undefined;
  }
}

/**
 * By literal. What comes first is left out first: choices, since users know their own objects better, and of those the
 * ones that say nothing of the variable itself, since a short way is understood better than a long one.
 */
function obstaclesOf(
  component: Problem,
  optimum: Assignment,
  variable: string,
  encoded: Encoded,
): Map<number, Obstacle> {
  const obstacles = new Map<number, Obstacle>();
  const important = component.order.slice(0, Math.max(0, component.order.indexOf(variable)));
  for (const name of important) {
    const value = optimum.get(name) ?? 0;
    // A choice of the oldest value asks for nothing.
    if (value > 0) obstacles.set(encoded.atLeast(name, value), { kind: "Choice", variable: name, value });
  }
  for (const wish of component.wishes ?? []) {
    if (!isKept(wish, optimum)) continue;
    const literal = encoded.within(wish.variable, wish.allowed);
    obstacles.set(literal, { kind: "Wish", source: wish.source, variable: wish.variable });
  }
  const direct = sourcesAbout(component, variable);
  const [far, near] = [sourcesOf(component).filter((source) => !direct.has(source)), [...direct].sort()];
  for (const source of [...far, ...near]) obstacles.set(encoded.selectorOf(source), { kind: "Source", source });
  return obstacles;
}

function sourcesAbout({ limits, relations }: Problem, variable: string): ReadonlySet<string> {
  const sources = new Set<string>();
  for (const limit of limits) if (limit.variable === variable) sources.add(limit.source);
  for (const { left, right, source } of relations) if (left === variable || right === variable) sources.add(source);
  return sources;
}
