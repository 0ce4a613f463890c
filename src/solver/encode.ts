import type { Problem } from "./problem.ts";
import type { Sat } from "./sat.ts";

/**
 * The order encoding: for each variable and each of its values k > 0 a literal "at least k". A set of values is then a
 * few gaps, and "as new as possible" is one literal.
 */
export interface Encoded {
  /** "The variable is at least this value"; true for 0 and false above the newest. */
  atLeast(variable: string, value: number): number;
  valueOf(variable: string): number;
  /** A literal that, when true, gives the variable one of these values; shared by all who ask for the same. */
  within(variable: string, allowed: readonly number[]): number;
  /** With selectors only: the literal that switches a source's limits and relations on. */
  selectorOf(source: string): number;
}

/** With selectors every source can be switched off, for explanations; without them the clauses are shorter. */
export async function encode(problem: Problem, sat: Sat, useSelectors: boolean): Promise<Encoded> {
  const yes = sat.newVariable();
  sat.addClause([yes]);
  const steps = new Map<string, readonly number[]>();
  for (const { name, size } of problem.variables) {
    const literals = Array.from({ length: size - 1 }, () => sat.newVariable());
    for (let index = 1; index < literals.length; index++)
      sat.addClause([-at(literals, index), at(literals, index - 1)]);
    steps.set(name, literals);
  }
  const sizes = new Map(problem.variables.map(({ name, size }) => [name, size]));
  const sizeOf = (variable: string): number => sizes.get(variable) ?? 0;
  const atLeast = (variable: string, value: number): number => {
    if (value <= 0) return yes;
    if (value >= sizeOf(variable)) return -yes;
    return at(steps.get(variable) ?? [], value - 1);
  };

  const selectors = new Map<string, number>();
  const selectorOf = (source: string): number => {
    const known = selectors.get(source) ?? sat.newVariable();
    selectors.set(source, known);
    return known;
  };
  const unless = (source: string): readonly number[] => (useSelectors ? [-selectorOf(source)] : []);

  for (const { source, variable, allowed } of problem.limits) {
    for (const [from, to] of gapsOf(allowed, sizeOf(variable))) {
      sat.addClause([...unless(source), -atLeast(variable, from), atLeast(variable, to + 1)]);
    }
    await sat.pause();
  }

  const ranges = new Map<string, number>();
  const within = (variable: string, allowed: readonly number[]): number => {
    const key = `${variable} ${allowed.join()}`;
    const known = ranges.get(key);
    if (known !== undefined) return known;
    const range = sat.newVariable();
    ranges.set(key, range);
    for (const [from, to] of gapsOf(allowed, sizeOf(variable)))
      sat.addClause([-range, -atLeast(variable, from), atLeast(variable, to + 1)]);
    return range;
  };

  for (const { source, left, right, allowed } of problem.relations) {
    for (const { from, to, values } of runsOf(allowed)) {
      if (values.length === sizeOf(right)) continue;
      const isInRun = [-atLeast(left, from), atLeast(left, to + 1)];
      sat.addClause([...unless(source), ...isInRun, ...(values.length === 0 ? [] : [within(right, values)])]);
    }
    await sat.pause();
  }

  return {
    atLeast,
    within,
    selectorOf,
    valueOf(variable) {
      const literals = steps.get(variable) ?? [];
      let value = 0;
      while (value < literals.length && sat.isTrue(at(literals, value))) value++;
      return value;
    },
  };
}

/** The runs of values that are not allowed, as inclusive pairs. */
function gapsOf(allowed: readonly number[], size: number): readonly (readonly [number, number])[] {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const value of [...new Set(allowed)].sort((a, b) => a - b)) {
    if (value > next) gaps.push([next, value - 1]);
    next = value + 1;
  }
  if (next < size) gaps.push([next, size - 1]);
  return gaps;
}

interface Run {
  readonly from: number;
  readonly to: number;
  readonly values: readonly number[];
}

/** Neighbouring values of the left variable mostly allow the same, and then need only one clause. */
function runsOf(allowed: readonly (readonly number[])[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [value, values] of allowed.entries()) {
    const last = runs.at(-1);
    if (last && last.values.length === values.length && last.values.every((entry, index) => entry === values[index])) {
      runs[runs.length - 1] = { ...last, to: value };
    } else {
      runs.push({ from: value, to: value, values });
    }
  }
  return runs;
}

function at(literals: readonly number[], index: number): number {
  const literal = literals[index];
  if (literal === undefined) throw new RangeError(`there is no literal ${index}`);
  return literal;
}
