import { isLarge } from "./components.ts";
import { type Encoded, encode } from "./encode.ts";
import type { Problem } from "./problem.ts";
import { createSat, type QuestionLimits, type Sat, type SatLimits } from "./sat.ts";

/** A smallest set of sources that cannot be satisfied together; empty when the time ran out. */
export async function minimalConflict(problem: Problem, limits: SatLimits): Promise<readonly string[]> {
  const { sat, encoded } = await openWithSources(problem, limits);
  try {
    const sources = new Map(sourcesOf(problem).map((source) => [encoded.selectorOf(source), source]));
    const minimal = await shrink([...sources.keys()], sat, [], limits);
    return (typeof minimal === "string" ? [] : minimal).flatMap((literal) => sources.get(literal) ?? []).sort();
  } finally {
    sat.dispose();
  }
}

/** A component of which every source can be switched off. */
export interface Opened {
  readonly sat: Sat;
  readonly encoded: Encoded;
}

export async function openWithSources(component: Problem, limits: SatLimits): Promise<Opened> {
  const sat = await createSat({ ...limits, isLarge: isLarge(component) });
  try {
    return { sat, encoded: await encode(component, sat, true) };
  } catch (error) {
    sat.dispose();
    throw error;
  }
}

/**
 * Leaves out one assumption after the other, as long as the rest still cannot hold together with what is `always` so.
 * Which ones are left depends on their order alone: a core of the solver, which depends on how the search went, only
 * saves questions whose answer it already is.
 */
export async function shrink(
  assumptions: readonly number[],
  sat: Sat,
  always: readonly number[],
  limits: QuestionLimits,
): Promise<readonly number[] | "OutOfTime" | "Possible"> {
  const verdict = await sat.solve([...always, ...assumptions], limits);
  if (verdict === "out of time") return "OutOfTime";
  if (verdict === "satisfiable") return "Possible";
  let core = new Set(sat.core());
  const left = new Set(assumptions);
  for (const candidate of assumptions) {
    left.delete(candidate);
    if (!core.has(candidate)) continue;
    const still = await sat.solve([...always, ...left], limits);
    if (still === "out of time") return "OutOfTime";
    if (still === "unsatisfiable") core = new Set(sat.core());
    else left.add(candidate);
  }
  return assumptions.filter((literal) => left.has(literal));
}

export const sourcesOf = ({ limits, relations }: Problem): readonly string[] => {
  const sources = new Set<string>();
  for (const { source } of limits) sources.add(source);
  for (const { source } of relations) sources.add(source);
  return [...sources].sort();
};
