import { gapsOf } from "./gaps.ts";
import type { Problem } from "./problem.ts";
import { forbiddenRectangles } from "./rectangles.ts";
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
    const pause = sat.rest();
    if (pause) await pause;
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
    const pause = sat.rest();
    if (pause) await pause;
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

  // One clause after the other in the same array: there are hundreds of thousands, and the solver copies each.
  const clause: number[] = [];
  for (const { source, left, right, allowed } of problem.relations) {
    const [ofLeft, ofRight] = [steps.get(left) ?? [], steps.get(right) ?? []];
    const selector = useSelectors ? -selectorOf(source) : 0;
    for (const { fromLeft, toLeft, fromRight, toRight } of forbiddenRectangles(allowed, ofRight.length + 1)) {
      clause.length = 0;
      if (selector !== 0) clause.push(selector);
      // What reaches to the end of a range needs no literal there; most clauses come down to two.
      if (fromLeft > 0) clause.push(-at(ofLeft, fromLeft - 1));
      if (toLeft < ofLeft.length) clause.push(at(ofLeft, toLeft));
      if (fromRight > 0) clause.push(-at(ofRight, fromRight - 1));
      if (toRight < ofRight.length) clause.push(at(ofRight, toRight));
      sat.addClause(clause);
    }
    const pause = sat.rest();
    if (pause) await pause;
  }

  return {
    atLeast,
    within,
    selectorOf,
    valueOf(variable) {
      const literals = steps.get(variable) ?? [];
      // "At least" holds up to the value and for nothing above it, so half of what is left is enough to ask about.
      let [value, above] = [0, literals.length];
      while (value < above) {
        const middle = (value + above) >> 1;
        if (sat.isTrue(at(literals, middle))) value = middle + 1;
        else above = middle;
      }
      return value;
    },
  };
}

function at(literals: readonly number[], index: number): number {
  const literal = literals[index];
  if (literal === undefined) throw new RangeError(`there is no literal ${index}`);
  return literal;
}
