import type { Env } from "../env/env.ts";
import { componentsOf } from "./components.ts";
import { type Encoded, encode } from "./encode.ts";
import { minimalConflict } from "./explain.ts";
import { type Assignment, checkProblem, isConsistent, isKept, type Problem } from "./problem.ts";
import { createSat, type Sat } from "./sat.ts";

export interface SolveOptions {
  readonly env: Env;
  /** After this long the best answer so far is given, and said not to be proven. */
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
}

export type Solution =
  | {
      readonly kind: "Solved";
      readonly assignment: Assignment;
      /** False when the time ran out before it was certain that nothing better exists. */
      readonly proven: boolean;
    }
  /** These sources together allow no answer at all; without any one of them there would be one, as far as they go. */
  | { readonly kind: "Impossible"; readonly conflict: readonly string[] }
  /** The time ran out before any answer was found. */
  | { readonly kind: "OutOfTime" };

/** The optimum: wishes kept in their order, then the first variable of the order as new as possible, then the second, and so on. Deterministic. */
export async function solve(problem: Problem, { env, timeLimitMs, signal }: SolveOptions): Promise<Solution> {
  checkProblem(problem);
  const limits = {
    env,
    ...(signal && { signal }),
    ...(timeLimitMs !== undefined && { deadlineMs: env.monotonicMs() + timeLimitMs }),
  };
  const assignment = new Map<string, number>();
  let proven = true;
  for (const component of componentsOf(problem)) {
    const easy = allAtBest(component);
    if (easy) {
      for (const [name, value] of easy) assignment.set(name, value);
      continue;
    }
    const sat = await createSat(limits);
    try {
      const found = await optimize(component, sat);
      if (found.kind === "OutOfTime") return found;
      if (found.kind === "Impossible")
        return { kind: "Impossible", conflict: await minimalConflict(component, limits) };
      for (const [name, value] of found.assignment) assignment.set(name, value);
      proven &&= found.proven;
    } finally {
      sat.dispose();
    }
  }
  return { kind: "Solved", assignment, proven };
}

/** When every variable can have its best value at once there is nothing to search, and it is the optimum. */
function allAtBest(problem: Problem): Assignment | undefined {
  const allowed = new Map(
    problem.variables.map(({ name, size }) => [name, Array.from({ length: size }, (_, value) => value)]),
  );
  for (const limit of problem.limits) {
    const still = new Set(limit.allowed);
    allowed.set(
      limit.variable,
      (allowed.get(limit.variable) ?? []).filter((value) => still.has(value)),
    );
  }
  const isOrdered = new Set(problem.order);
  const best = new Map<string, number>();
  for (const { name, current } of problem.variables) {
    const values = allowed.get(name) ?? [];
    const wanted = !isOrdered.has(name) && current !== undefined && values.includes(current) ? current : values.at(-1);
    if (wanted === undefined) return undefined;
    best.set(name, wanted);
  }
  if (!(problem.wishes ?? []).every((wish) => isKept(wish, best))) return undefined;
  return isConsistent({ limits: [], relations: problem.relations }, best) ? best : undefined;
}

type Optimized =
  | { readonly kind: "Found"; readonly assignment: Assignment; readonly proven: boolean }
  | { readonly kind: "Impossible" }
  | { readonly kind: "OutOfTime" };

async function optimize(problem: Problem, sat: Sat): Promise<Optimized> {
  const encoded = await encode(problem, sat, false);
  const first = await sat.solve([]);
  if (first === "unsatisfiable") return { kind: "Impossible" };
  if (first === "out of time") return { kind: "OutOfTime" };
  let best = read(problem, encoded);
  const better = (): void => {
    best = read(problem, encoded);
  };
  if ((await keepWishes(problem, () => best, encoded, sat, better)) === "out of time")
    return { kind: "Found", assignment: best, proven: false };
  for (const name of problem.order) {
    const size = problem.variables.find((variable) => variable.name === name)?.size ?? 1;
    if ((await raise(name, size, () => best.get(name) ?? 0, encoded, sat, better)) === "out of time") {
      return { kind: "Found", assignment: best, proven: false };
    }
  }
  const isOrdered = new Set(problem.order);
  for (const { name, current } of problem.variables) {
    if (isOrdered.has(name)) continue;
    if ((await settle(name, current, () => best.get(name) ?? 0, encoded, sat, better)) === "out of time") {
      return { kind: "Found", assignment: best, proven: false };
    }
  }
  return { kind: "Found", assignment: best, proven: true };
}

/** All wishes at once is the common case; otherwise each is asked for in turn, and held once it can be kept. */
async function keepWishes(
  { wishes = [] }: Problem,
  best: () => Assignment,
  encoded: Encoded,
  sat: Sat,
  better: () => void,
): Promise<"done" | "out of time"> {
  if (wishes.length === 0) return "done";
  const literals = wishes.map(({ variable, allowed }) => encoded.within(variable, allowed));
  const all = await sat.solve(literals);
  if (all === "out of time") return all;
  if (all === "satisfiable") {
    better();
    for (const literal of literals) sat.addClause([literal]);
    return "done";
  }
  for (const [index, wish] of wishes.entries()) {
    const literal = literals[index] ?? 0;
    if (!isKept(wish, best())) {
      const verdict = await sat.solve([literal]);
      if (verdict === "out of time") return verdict;
      if (verdict === "unsatisfiable") continue;
      better();
    }
    sat.addClause([literal]);
  }
  return "done";
}

/** Finds the newest value by trying the newest first and then halving, and holds the variable there. */
async function raise(
  name: string,
  size: number,
  value: () => number,
  encoded: Encoded,
  sat: Sat,
  better: () => void,
): Promise<"done" | "out of time"> {
  let ceiling = size - 1;
  let attempt = ceiling;
  while (value() < ceiling) {
    const verdict = await sat.solve([encoded.atLeast(name, attempt)]);
    if (verdict === "out of time") return verdict;
    if (verdict === "satisfiable") better();
    else ceiling = attempt - 1;
    attempt = Math.ceil((value() + ceiling) / 2);
    if (attempt <= value()) attempt = value() + 1;
  }
  hold(name, value(), encoded, sat);
  return "done";
}

/** A variable that nobody asked to be new keeps its value if it can. */
async function settle(
  name: string,
  current: number | undefined,
  value: () => number,
  encoded: Encoded,
  sat: Sat,
  better: () => void,
): Promise<"done" | "out of time"> {
  if (current !== undefined && value() !== current) {
    const verdict = await sat.solve([encoded.atLeast(name, current), -encoded.atLeast(name, current + 1)]);
    if (verdict === "out of time") return verdict;
    if (verdict === "satisfiable") better();
  }
  hold(name, value(), encoded, sat);
  return "done";
}

function hold(name: string, value: number, encoded: Encoded, sat: Sat): void {
  sat.addClause([encoded.atLeast(name, value)]);
  sat.addClause([-encoded.atLeast(name, value + 1)]);
}

const read = ({ variables }: Problem, encoded: Encoded): Assignment =>
  new Map(variables.map(({ name }) => [name, encoded.valueOf(name)]));
