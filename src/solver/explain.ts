import type { Env } from "../env/env.ts";
import { componentsOf, isLarge } from "./components.ts";
import { type Encoded, encode } from "./encode.ts";
import { type Assignment, isKept, type Problem } from "./problem.ts";
import { createSat, type Sat, type SatLimits } from "./sat.ts";

/** What stands in the way of a newer value: the user's objects, and wishes and choices that were more important. */
export type Obstacle =
  | { readonly kind: "Source"; readonly source: string }
  | { readonly kind: "Wish"; readonly source: string; readonly variable: string }
  | { readonly kind: "Choice"; readonly variable: string; readonly value: number };

export type Explanation =
  /** All of these together forbid it; without any one of them it would be possible. */
  | { readonly kind: "Forbidden"; readonly obstacles: readonly Obstacle[] }
  | { readonly kind: "Newest" }
  /** Nothing forbids it: the assignment is not the optimum, because its search was broken off. */
  | { readonly kind: "Possible" }
  | { readonly kind: "OutOfTime" };

export interface ExplainLimits {
  readonly env: Env;
  /** For each question. */
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Answers for one optimum of one problem; each part of the problem is written out once, at the first question about it.
 * Questions are answered one after the other, since they share a solver, and what was asked before the end is answered.
 */
export interface Explainer {
  /** Why the variable is not newer than it is; with `atLeast`, why it is not at least that new. */
  whyNotNewer(variable: string, atLeast?: number): Promise<Explanation>;
  dispose(): void;
}

export function createExplainer(problem: Problem, optimum: Assignment, limits: ExplainLimits): Explainer {
  const { env, timeLimitMs, signal } = limits;
  const sizes = new Map(problem.variables.map(({ name, size }) => [name, size]));
  const opened = new Map<Problem, Opened>();
  let components: ReadonlyMap<string, Problem> | undefined;
  let isEnded = false;
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const answer = turn.then(work);
    turn = answer.then(close, close);
    return answer;
  };
  return {
    whyNotNewer: (variable, atLeast) => inTurn(() => answer(variable, atLeast ?? (optimum.get(variable) ?? 0) + 1)),
    dispose() {
      isEnded = true;
      void inTurn(async () => undefined);
    },
  };

  async function answer(variable: string, goal: number): Promise<Explanation> {
    if (goal > (sizes.get(variable) ?? 0) - 1) return { kind: "Newest" };
    components ??= componentsByVariable(problem);
    const component = components.get(variable);
    if (!component) return { kind: "Newest" };
    const found = opened.get(component) ?? (await openComponent(component, { env, ...(signal && { signal }) }));
    opened.set(component, found);
    const { encoded, sat } = found;
    const obstacles = obstaclesOf(component, optimum, variable, encoded);
    const deadlineMs = timeLimitMs === undefined ? undefined : env.monotonicMs() + timeLimitMs;
    const minimal = await shrink([...obstacles.keys()], sat, encoded.atLeast(variable, goal), deadlineMs);
    if (typeof minimal === "string") return { kind: minimal };
    return { kind: "Forbidden", obstacles: minimal.flatMap((literal) => obstacles.get(literal) ?? []).sort(byText) };
  }

  function close(): void {
    if (!isEnded) return;
    for (const { sat } of opened.values()) sat.dispose();
    opened.clear();
  }
}

function componentsByVariable(problem: Problem): ReadonlyMap<string, Problem> {
  const componentOf = new Map<string, Problem>();
  for (const component of componentsOf(problem))
    for (const { name } of component.variables) componentOf.set(name, component);
  return componentOf;
}

/** One question to an explainer of its own. */
export async function whyNotNewer(
  problem: Problem,
  optimum: Assignment,
  variable: string,
  limits: ExplainLimits,
): Promise<Explanation> {
  const explainer = createExplainer(problem, optimum, limits);
  try {
    return await explainer.whyNotNewer(variable);
  } finally {
    explainer.dispose();
  }
}

/** A smallest set of sources that cannot be satisfied together; empty when the time ran out. */
export async function minimalConflict(problem: Problem, limits: SatLimits): Promise<readonly string[]> {
  const { sat, encoded } = await openComponent(problem, limits);
  try {
    const sources = new Map(sourcesOf(problem).map((source) => [encoded.selectorOf(source), source]));
    const minimal = await shrink([...sources.keys()], sat);
    return (typeof minimal === "string" ? [] : minimal).flatMap((literal) => sources.get(literal) ?? []).sort();
  } finally {
    sat.dispose();
  }
}

interface Opened {
  readonly sat: Sat;
  readonly encoded: Encoded;
}

async function openComponent(component: Problem, limits: SatLimits): Promise<Opened> {
  const sat = await createSat({ ...limits, isLarge: isLarge(component) });
  try {
    return { sat, encoded: await encode(component, sat, true) };
  } catch (error) {
    sat.dispose();
    throw error;
  }
}

/** By literal. Choices come first, because what is tried first is left out first, and users know their own objects better. */
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
  for (const source of sourcesOf(component)) obstacles.set(encoded.selectorOf(source), { kind: "Source", source });
  return obstacles;
}

/** Starts from the solver's core and leaves out one after the other, as long as the rest still cannot hold. */
async function shrink(
  assumptions: readonly number[],
  sat: Sat,
  goal?: number,
  deadlineMs?: number,
): Promise<readonly number[] | "OutOfTime" | "Possible"> {
  const always = goal === undefined ? [] : [goal];
  const verdict = await sat.solve([...always, ...assumptions], deadlineMs);
  if (verdict === "out of time") return "OutOfTime";
  if (verdict === "satisfiable") return "Possible";
  let core = inOrder(sat.core(), assumptions);
  for (const candidate of core) {
    const without = core.filter((literal) => literal !== candidate);
    if (without.length === core.length) continue;
    const still = await sat.solve([...always, ...without], deadlineMs);
    if (still === "out of time") return "OutOfTime";
    if (still === "unsatisfiable") core = inOrder(sat.core(), without);
  }
  return core;
}

/** The solver names its core in an order of its own; ours makes the answer the same every time. */
const inOrder = (core: readonly number[], assumptions: readonly number[]): readonly number[] => {
  const members = new Set(core);
  return assumptions.filter((literal) => members.has(literal));
};

const sourcesOf = ({ limits, relations }: Problem): readonly string[] =>
  [...new Set([...limits, ...relations].map(({ source }) => source))].sort();

const byText = (a: Obstacle, b: Obstacle): number => (textOf(a) < textOf(b) ? -1 : 1);
const textOf = (obstacle: Obstacle): string => {
  switch (obstacle.kind) {
    case "Source":
      return `s ${obstacle.source}`;
    case "Wish":
      return `w ${obstacle.source} ${obstacle.variable}`;
    case "Choice":
      return `c ${obstacle.variable}`;
  }
};
