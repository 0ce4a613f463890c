import type { Env } from "../env/env.ts";
import { componentsOf, isLarge } from "./components.ts";
import { type Encoded, encode } from "./encode.ts";
import { minimalConflict } from "./explain.ts";
import { type Assignment, checkProblem, isConsistent, isKept, type Problem } from "./problem.ts";
import { createRest } from "./rest.ts";
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
  const rest = createRest(env, signal);
  checkProblem(problem);
  const limits = {
    env,
    ...(signal && { signal }),
    ...(timeLimitMs !== undefined && { deadlineMs: env.monotonicMs() + timeLimitMs }),
  };
  const assignment = new Map<string, number>();
  let proven = true;
  await rest();
  for (const component of componentsOf(problem)) {
    await rest();
    const easy = allAtBest(component);
    if (easy) {
      for (const [name, value] of easy) assignment.set(name, value);
      continue;
    }
    const sat = await createSat({ ...limits, isLarge: isLarge(component) });
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
  for (const { name, size } of problem.variables) {
    sat.prefer(Array.from({ length: size - 1 }, (_, index) => encoded.atLeast(name, index + 1)));
    const pause = sat.rest();
    if (pause) await pause;
  }
  const first = await sat.solve([]);
  if (first === "unsatisfiable") return { kind: "Impossible" };
  if (first === "out of time") return { kind: "OutOfTime" };
  const search = new Search(problem, encoded, sat);
  const isFinished = await search.run();
  return { kind: "Found", assignment: search.best, proven: isFinished };
}

/** The way from a first answer to the best one. What is settled is held by clauses, and never looked at again. */
class Search {
  readonly best = new Map<string, number>();
  readonly #problem: Problem;
  readonly #encoded: Encoded;
  readonly #sat: Sat;
  readonly #open: Set<string>;

  constructor(problem: Problem, encoded: Encoded, sat: Sat) {
    this.#problem = problem;
    this.#encoded = encoded;
    this.#sat = sat;
    this.#open = new Set(problem.variables.map(({ name }) => name));
    this.#readModel();
  }

  /** False when the time ran out. */
  async run(): Promise<boolean> {
    const { variables, order } = this.#problem;
    const byName = new Map(variables.map((variable) => [variable.name, variable]));
    if (!(await this.#keepWishes())) return false;
    for (const name of order) if (!(await this.#raise(name, byName.get(name)?.size ?? 1))) return false;
    for (const { name, current } of variables)
      if (this.#open.has(name) && !(await this.#settle(name, current))) return false;
    return true;
  }

  #readModel(): void {
    for (const name of this.#open) this.best.set(name, this.#encoded.valueOf(name));
  }

  #valueOf(name: string): number {
    return this.best.get(name) ?? 0;
  }

  /** All wishes at once is the common case; otherwise each is asked for in turn, and held once it can be kept. */
  async #keepWishes(): Promise<boolean> {
    const { wishes = [] } = this.#problem;
    if (wishes.length === 0) return true;
    const literals = wishes.map(({ variable, allowed }) => this.#encoded.within(variable, allowed));
    const all = await this.#sat.solve(literals);
    if (all === "out of time") return false;
    if (all === "satisfiable") {
      this.#readModel();
      for (const literal of literals) this.#sat.addClause([literal]);
      return true;
    }
    for (const [index, wish] of wishes.entries()) {
      const literal = literals[index] ?? 0;
      if (!isKept(wish, this.best)) {
        const verdict = await this.#sat.solve([literal]);
        if (verdict === "out of time") return false;
        if (verdict === "unsatisfiable") continue;
        this.#readModel();
      }
      this.#sat.addClause([literal]);
    }
    return true;
  }

  /** Finds the newest value by trying the newest first and then halving, and holds the variable there. */
  async #raise(name: string, size: number): Promise<boolean> {
    if (!this.#open.has(name)) return true;
    let ceiling = size - 1;
    while (ceiling > this.#valueOf(name) && this.#sat.isImpossible(this.#encoded.atLeast(name, ceiling))) ceiling--;
    let attempt = ceiling;
    while (this.#valueOf(name) < ceiling) {
      const verdict = await this.#sat.solve([this.#encoded.atLeast(name, attempt)]);
      if (verdict === "out of time") return false;
      if (verdict === "satisfiable") this.#readModel();
      else ceiling = attempt - 1;
      attempt = Math.max(this.#valueOf(name) + 1, Math.ceil((this.#valueOf(name) + ceiling) / 2));
    }
    this.#hold(name);
    return true;
  }

  /** A variable that nobody asked to be new keeps its value if it can. */
  async #settle(name: string, current: number | undefined): Promise<boolean> {
    if (current !== undefined && this.#valueOf(name) !== current) {
      const { atLeast } = this.#encoded;
      const verdict = await this.#sat.solve([atLeast(name, current), -atLeast(name, current + 1)]);
      if (verdict === "out of time") return false;
      if (verdict === "satisfiable") this.#readModel();
    }
    this.#hold(name);
    return true;
  }

  #hold(name: string): void {
    this.#sat.addClause([this.#encoded.atLeast(name, this.#valueOf(name))]);
    this.#sat.addClause([-this.#encoded.atLeast(name, this.#valueOf(name) + 1)]);
    this.#open.delete(name);
  }
}
