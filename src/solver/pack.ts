import { ascending } from "./gaps.ts";
import type { Assignment, Limit, Problem } from "./problem.ts";
import type { Rest } from "./rest.ts";

/**
 * A problem as a few arrays of numbers, which go to another thread without being copied. Names stay behind: on the
 * other side a variable is its position, and a source its position in the order of their names.
 */
export interface PackedProblem {
  /** For each variable its size and its current value, or -1. */
  readonly variables: Int32Array<ArrayBuffer>;
  /** For each the source, the variable and the row. */
  readonly limits: Int32Array<ArrayBuffer>;
  readonly wishes: Int32Array<ArrayBuffer>;
  /** For each the source, the left and the right variable, and the table. */
  readonly relations: Int32Array<ArrayBuffer>;
  readonly order: Int32Array<ArrayBuffer>;
  /** The rows of all tables; those of table n begin at `tableStarts[n]`. */
  readonly tables: Int32Array<ArrayBuffer>;
  readonly tableStarts: Int32Array<ArrayBuffer>;
  /** Runs of allowed values, as inclusive pairs; those of row n begin at `rowStarts[n]`. */
  readonly runs: Int32Array<ArrayBuffer>;
  readonly rowStarts: Int32Array<ArrayBuffer>;
}

/** What stays behind, to read the answers with. */
export interface PackedNames {
  readonly variables: readonly string[];
  readonly sources: readonly string[];
}

/** Rows and tables that several share, as the same array, are written once. */
export async function packProblem(
  problem: Problem,
  rest: Rest,
): Promise<{ readonly packed: PackedProblem; readonly names: PackedNames }> {
  const names = { variables: problem.variables.map(({ name }) => name), sources: sourcesOf(problem) };
  const variableAt = positions(names.variables);
  const sourceAt = positions(names.sources);
  const [runs, rowStarts]: [number[], number[]] = [[], [0]];
  const rowIds = new Map<readonly number[], number>();
  const rowId = (row: readonly number[]): number => {
    const known = rowIds.get(row);
    if (known !== undefined) return known;
    addRuns(row, runs);
    rowIds.set(row, rowIds.size);
    rowStarts.push(runs.length);
    return rowIds.size - 1;
  };
  const [tables, tableStarts]: [number[], number[]] = [[], [0]];
  const tableIds = new Map<Problem["relations"][number]["allowed"], number>();
  const relations = new Int32Array(problem.relations.length * 4);
  for (const [index, { source, left, right, allowed }] of problem.relations.entries()) {
    let table = tableIds.get(allowed);
    if (table === undefined) {
      for (const row of allowed) {
        tables.push(rowId(row));
        const pause = rest();
        if (pause) await pause;
      }
      table = tableIds.size;
      tableIds.set(allowed, table);
      tableStarts.push(tables.length);
    }
    relations.set([sourceAt(source), variableAt(left), variableAt(right), table], index * 4);
    const pause = rest();
    if (pause) await pause;
  }
  const packLimits = (limits: readonly Limit[]): Int32Array<ArrayBuffer> =>
    Int32Array.from(
      limits.flatMap(({ source, variable, allowed }) => [sourceAt(source), variableAt(variable), rowId(allowed)]),
    );
  const limits = packLimits(problem.limits);
  const pause = rest();
  if (pause) await pause;
  const packed: PackedProblem = {
    variables: Int32Array.from(problem.variables.flatMap(({ size, current = -1 }) => [size, current])),
    limits,
    wishes: packLimits(problem.wishes ?? []),
    relations,
    order: Int32Array.from(problem.order, variableAt),
    tables: Int32Array.from(tables),
    tableStarts: Int32Array.from(tableStarts),
    runs: Int32Array.from(runs),
    rowStarts: Int32Array.from(rowStarts),
  };
  return { packed, names };
}

/** The same problem with names that sort as the real ones do. */
export function unpackProblem(packed: PackedProblem): Problem {
  const { variables, limits, wishes, relations, order, tables, tableStarts, runs, rowStarts } = packed;
  const rows = Array.from({ length: rowStarts.length - 1 }, (_, row) => {
    const values: number[] = [];
    for (let at = rowStarts[row] ?? 0; at < (rowStarts[row + 1] ?? 0); at += 2)
      for (let value = runs[at] ?? 0; value <= (runs[at + 1] ?? -1); value++) values.push(value);
    return values;
  });
  const rowsOf = (ids: Int32Array): number[][] => Array.from(ids, (row) => rows[row] ?? []);
  const wholeTables = Array.from({ length: tableStarts.length - 1 }, (_, table) =>
    rowsOf(tables.subarray(tableStarts[table], tableStarts[table + 1])),
  );
  const readLimits = (from: Int32Array): Limit[] =>
    inGroups(from, 3).map(([source = 0, variable = 0, row = 0]) => ({
      source: nameOf(source),
      variable: nameOf(variable),
      allowed: rows[row] ?? [],
    }));
  return {
    variables: inGroups(variables, 2).map(([size = 0, current = -1], index) => ({
      name: nameOf(index),
      size,
      ...(current >= 0 && { current }),
    })),
    limits: readLimits(limits),
    wishes: readLimits(wishes),
    relations: inGroups(relations, 4).map(([source = 0, left = 0, right = 0, table = 0]) => ({
      source: nameOf(source),
      left: nameOf(left),
      right: nameOf(right),
      allowed: wholeTables[table] ?? [],
    })),
    order: Array.from(order, nameOf),
  };
}

/** What the other side calls the variable or source at a position, and back. */
export const nameOf = (position: number): string => String(position).padStart(nameDigits, "0");
export const positionOf = (name: string): number => Number(name);
const nameDigits = 9;

export const packAssignment = (assignment: Assignment, variables: readonly string[]): Int32Array<ArrayBuffer> =>
  Int32Array.from(variables, (name) => assignment.get(name) ?? 0);

export const unpackAssignment = (values: Int32Array, names: readonly string[]): Map<string, number> =>
  new Map(names.map((name, index) => [name, values[index] ?? 0]));

export const buffersOf = (packed: PackedProblem): readonly ArrayBuffer[] =>
  Object.values(packed).map(({ buffer }: Int32Array<ArrayBuffer>) => buffer);

function sourcesOf({ limits, relations, wishes = [] }: Problem): readonly string[] {
  const sources = new Set<string>();
  for (const list of [limits, relations, wishes]) for (const { source } of list) sources.add(source);
  return [...sources].sort();
}

function positions(names: readonly string[]): (name: string) => number {
  const known = new Map(names.map((name, index) => [name, index]));
  return (name) => known.get(name) ?? -1;
}

function addRuns(row: readonly number[], runs: number[]): void {
  let [from, to] = [0, -2];
  for (const value of ascending(row)) {
    if (value <= to) continue;
    if (value > to + 1) {
      if (to >= 0) runs.push(from, to);
      from = value;
    }
    to = value;
  }
  if (to >= 0) runs.push(from, to);
}

function inGroups(values: Int32Array, size: number): readonly Int32Array[] {
  return Array.from({ length: values.length / size }, (_, group) => values.subarray(group * size, (group + 1) * size));
}
