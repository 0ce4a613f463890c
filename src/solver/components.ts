import type { Problem } from "./problem.ts";
import type { Rest } from "./rest.ts";

/** Splits a problem into parts that have nothing to do with each other; their answers together are the whole answer. */
export async function componentsOf(problem: Problem, rest: Rest): Promise<readonly Problem[]> {
  const parent = new Map(problem.variables.map(({ name }) => [name, name]));
  const rootOf = (name: string): string => {
    let root = name;
    while (parent.get(root) !== root) root = parent.get(root) ?? root;
    let at = name;
    while (at !== root) {
      const next = parent.get(at) ?? root;
      parent.set(at, root);
      at = next;
    }
    return root;
  };
  for (const { left, right } of problem.relations) {
    parent.set(rootOf(left), rootOf(right));
    const pause = rest();
    if (pause) await pause;
  }

  const parts = new Map<string, Part>();
  const partOf = (name: string): Part => {
    const root = rootOf(name);
    const known = parts.get(root) ?? { variables: [], limits: [], relations: [], wishes: [], order: [] };
    parts.set(root, known);
    return known;
  };
  for (const variable of problem.variables) partOf(variable.name).variables.push(variable);
  for (const limit of problem.limits) partOf(limit.variable).limits.push(limit);
  for (const relation of problem.relations) {
    partOf(relation.left).relations.push(relation);
    const pause = rest();
    if (pause) await pause;
  }
  for (const wish of problem.wishes ?? []) partOf(wish.variable).wishes.push(wish);
  for (const name of problem.order) partOf(name).order.push(name);
  return [...parts.values()];
}

/**
 * Whether it is so much work that it is worth a thread, which takes as long to start and to warm up as the work on this
 * many rows. A single long table is read in one go, so it counts by itself.
 */
export function isLarge({ variables, relations }: Problem): boolean {
  let rows = 0;
  for (const { size } of variables) rows += size;
  for (const { allowed } of relations) {
    rows += allowed.length;
    if (allowed.length >= longTableRows) return true;
  }
  return rows >= largeRows;
}

const largeRows = 50_000;
const longTableRows = 1_000;

interface Part extends Problem {
  readonly variables: Problem["variables"][number][];
  readonly limits: Problem["limits"][number][];
  readonly relations: Problem["relations"][number][];
  readonly wishes: Problem["limits"][number][];
  readonly order: string[];
}
