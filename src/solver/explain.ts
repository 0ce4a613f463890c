import { componentsOf } from "./components.ts";
import { encode } from "./encode.ts";
import type { Assignment, Problem } from "./problem.ts";
import { createSat, type Sat, type SatLimits } from "./sat.ts";

/** What stands in the way of a newer value: the user's objects, and choices that were more important. */
export type Obstacle =
  | { readonly kind: "Source"; readonly source: string }
  | { readonly kind: "Choice"; readonly variable: string; readonly value: number };

export type Explanation =
  /** All of these together forbid it; without any one of them it would be possible. */
  | { readonly kind: "Forbidden"; readonly obstacles: readonly Obstacle[] }
  | { readonly kind: "Newest" }
  | { readonly kind: "OutOfTime" };

/** Why the variable is not newer than it is in this optimum of the problem. */
export async function whyNotNewer(
  problem: Problem,
  optimum: Assignment,
  variable: string,
  limits: SatLimits,
): Promise<Explanation> {
  const component = componentsOf(problem).find(({ variables }) => variables.some(({ name }) => name === variable));
  const size = component?.variables.find(({ name }) => name === variable)?.size ?? 0;
  const value = optimum.get(variable) ?? 0;
  if (!component || value >= size - 1) return { kind: "Newest" };
  const sat = await createSat(limits);
  try {
    const encoded = await encode(component, sat, true);
    sat.addClause([encoded.atLeast(variable, value + 1)]);
    const important = component.order.slice(0, Math.max(0, component.order.indexOf(variable)));
    const obstacles = new Map<number, Obstacle>();
    for (const source of sourcesOf(component)) obstacles.set(encoded.selectorOf(source), { kind: "Source", source });
    for (const name of important) {
      const chosen = optimum.get(name) ?? 0;
      // A choice of the oldest value asks for nothing.
      if (chosen > 0) obstacles.set(encoded.atLeast(name, chosen), { kind: "Choice", variable: name, value: chosen });
    }
    const minimal = await shrink([...obstacles.keys()], sat);
    if (minimal === undefined) return { kind: "OutOfTime" };
    return { kind: "Forbidden", obstacles: minimal.flatMap((literal) => obstacles.get(literal) ?? []).sort(byText) };
  } finally {
    sat.dispose();
  }
}

/** A smallest set of sources that cannot be satisfied together; empty when the time ran out. */
export async function minimalConflict(problem: Problem, limits: SatLimits): Promise<readonly string[]> {
  const sat = await createSat(limits);
  try {
    const encoded = await encode(problem, sat, true);
    const sources = new Map(sourcesOf(problem).map((source) => [encoded.selectorOf(source), source]));
    const minimal = await shrink([...sources.keys()], sat);
    return (minimal ?? []).flatMap((literal) => sources.get(literal) ?? []).sort();
  } finally {
    sat.dispose();
  }
}

/** Starts from the solver's core and leaves out one after the other, as long as the rest still cannot hold. */
async function shrink(assumptions: readonly number[], sat: Sat): Promise<readonly number[] | undefined> {
  const verdict = await sat.solve(assumptions);
  if (verdict === "out of time") return undefined;
  if (verdict === "satisfiable")
    throw new Error("what should be explained is possible: the assignment is not an optimum of this problem");
  let core = inOrder(sat.core(), assumptions);
  for (const candidate of core) {
    const without = core.filter((literal) => literal !== candidate);
    if (without.length === core.length) continue;
    const still = await sat.solve(without);
    if (still === "out of time") return undefined;
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
const textOf = (obstacle: Obstacle): string =>
  obstacle.kind === "Source" ? `s ${obstacle.source}` : `c ${obstacle.variable}`;
