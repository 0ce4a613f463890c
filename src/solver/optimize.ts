import { isLarge } from "./components.ts";
import { minimalConflict } from "./conflict.ts";
import { type Encoded, encode } from "./encode.ts";
import { type Assignment, isKept, type Problem, type Variable } from "./problem.ts";
import { createSat, type Sat, type SatLimits } from "./sat.ts";
import type { Solution } from "./solution.ts";

/** The optimum of one component, searched for on this thread. */
export async function optimizeComponent(component: Problem, limits: SatLimits): Promise<Solution> {
  const sat = await createSat({ ...limits, isLarge: isLarge(component) });
  try {
    const found = await optimize(component, sat);
    if (found.kind !== "Impossible") return found;
    return { kind: "Impossible", conflict: await minimalConflict(component, limits) };
  } finally {
    sat.dispose();
  }
}

type Optimized =
  | { readonly kind: "Solved"; readonly assignment: Assignment; readonly proven: boolean }
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
  return { kind: "Solved", assignment: search.best, proven: isFinished };
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
    for (const variable of variables)
      if (this.#open.has(variable.name) && !(await this.#settle(variable))) return false;
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

  /** A variable that nobody asked to be new keeps its value if it can; without one any would do, and the newest is always the same. */
  async #settle({ name, size, current }: Variable): Promise<boolean> {
    if (current !== undefined && this.#valueOf(name) !== current) {
      const { atLeast } = this.#encoded;
      const verdict = await this.#sat.solve([atLeast(name, current), -atLeast(name, current + 1)]);
      if (verdict === "out of time") return false;
      if (verdict === "satisfiable") this.#readModel();
    }
    if (this.#valueOf(name) !== current) return this.#raise(name, size);
    this.#hold(name);
    return true;
  }

  #hold(name: string): void {
    this.#sat.addClause([this.#encoded.atLeast(name, this.#valueOf(name))]);
    this.#sat.addClause([-this.#encoded.atLeast(name, this.#valueOf(name) + 1)]);
    this.#open.delete(name);
  }
}
