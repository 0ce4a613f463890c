import type { Env } from "../env/env.ts";
import { componentsOf } from "./components.ts";
import { optimizeComponent } from "./optimize.ts";
import { type Assignment, checkProblem, isConsistent, isKept, type Problem } from "./problem.ts";
import { createRest } from "./rest.ts";
import type { Solution } from "./solution.ts";
import { isForThread, solverThread } from "./thread.ts";

export type { Solution };

export interface SolveOptions {
  readonly env: Env;
  /** After this long the best answer so far is given, and said not to be proven. */
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * The optimum: wishes kept in their order, then the first variable of the order as new as possible, then the second, and
 * so on. Deterministic. What is large is searched for on a thread of its own.
 */
export async function solve(problem: Problem, { env, timeLimitMs, signal }: SolveOptions): Promise<Solution> {
  const rest = createRest(env, signal);
  signal?.throwIfAborted();
  checkProblem(problem);
  const deadlineMs = timeLimitMs === undefined ? undefined : env.monotonicMs() + timeLimitMs;
  const limits = { ...(signal && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) };
  const assignment = new Map<string, number>();
  let proven = true;
  await rest();
  for (const component of await componentsOf(problem, rest)) {
    await rest();
    const easy = allAtBest(component);
    if (easy) {
      for (const [name, value] of easy) assignment.set(name, value);
      continue;
    }
    const found = isForThread(component, env)
      ? await solverThread.solve(component, limits)
      : await optimizeComponent(component, { env, ...limits });
    if (found.kind !== "Solved") return found;
    for (const [name, value] of found.assignment) assignment.set(name, value);
    proven &&= found.proven;
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
