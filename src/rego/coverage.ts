/** Which heads and expressions were evaluated. */
import { branchesOf } from "./compile/dependencies.ts";
import { eachExpr, eachExprInTerm } from "./compile/traverse.ts";
import type { Observer } from "./evaluate/frame.ts";
import type { Expr, Location, Module } from "./syntax/ast.ts";

export interface CoverageRange {
  readonly start: { readonly row: number; readonly col: number };
  readonly end: { readonly row: number; readonly col: number };
}

export interface FileCoverage {
  readonly covered?: readonly CoverageRange[];
  readonly not_covered?: readonly CoverageRange[];
  readonly covered_lines?: number;
  readonly not_covered_lines?: number;
  readonly coverage?: number;
}

export interface CoverageReport {
  readonly files: { readonly [file: string]: FileCoverage };
  readonly covered_lines: number;
  readonly not_covered_lines: number;
  readonly coverage: number;
}

export class CoverageRecorder {
  readonly #covered = new Map<string, Map<string, CoverageRange>>();

  readonly observer: Observer = {
    enterExpr: (expr) => this.#hit(expr.loc),
    exitRule: (rule) => this.#hit(rule.head.loc),
  };

  #hit(location: Location): void {
    if (location.file === "") return;
    let ranges = this.#covered.get(location.file);
    if (ranges === undefined) {
      ranges = new Map();
      this.#covered.set(location.file, ranges);
    }
    const range = rangeOf(location);
    ranges.set(keyOf(range), range);
  }

  report(modules: readonly Module[]): CoverageReport {
    const files: { [file: string]: FileCoverage } = {};
    let coveredTotal = 0;
    let missedTotal = 0;
    for (const module of [...modules].sort((left, right) => (left.file < right.file ? -1 : 1))) {
      const covered = [...(this.#covered.get(module.file)?.values() ?? [])].sort(compareRanges);
      const missed = new Map<string, CoverageRange>();
      for (const range of coverableLocations(module).map(rangeOf)) {
        if (!covered.some((outer) => contains(outer, range))) missed.set(keyOf(range), range);
      }
      const coveredLines = rowsOf(covered).size;
      const missedLines = rowsOf([...missed.values()]).size;
      coveredTotal += coveredLines;
      missedTotal += missedLines;
      files[module.file] = {
        ...(covered.length > 0 && { covered }),
        ...(missed.size > 0 && { not_covered: [...missed.values()].sort(compareRanges) }),
        ...(coveredLines > 0 && { covered_lines: coveredLines }),
        ...(missedLines > 0 && { not_covered_lines: missedLines }),
        ...(coveredLines > 0 && { coverage: percentage(coveredLines, missedLines) }),
      };
    }
    return {
      files,
      covered_lines: coveredTotal,
      not_covered_lines: missedTotal,
      coverage: percentage(coveredTotal, missedTotal),
    };
  }
}

/** Neighbouring rows as one span: first and last. */
export function rowSpans(ranges: readonly CoverageRange[]): readonly (readonly [number, number])[] {
  const spans: [number, number][] = [];
  for (const row of [...rowsOf(ranges)].sort((left, right) => left - right)) {
    const last = spans.at(-1);
    if (last !== undefined && row === last[1] + 1) last[1] = row;
    else spans.push([row, row]);
  }
  return spans;
}

function rowsOf(ranges: readonly CoverageRange[]): ReadonlySet<number> {
  const rows = new Set<number>();
  for (const { start, end } of ranges) for (let row = start.row; row <= end.row; row++) rows.add(row);
  return rows;
}

function contains(outer: CoverageRange, inner: CoverageRange): boolean {
  return comparePositions(outer.start, inner.start) <= 0 && comparePositions(outer.end, inner.end) >= 0;
}

function compareRanges(left: CoverageRange, right: CoverageRange): number {
  return comparePositions(left.start, right.start) || comparePositions(left.end, right.end);
}

function comparePositions(left: CoverageRange["start"], right: CoverageRange["start"]): number {
  return left.row - right.row || left.col - right.col;
}

function keyOf({ start, end }: CoverageRange): string {
  return `${start.row}:${start.col}-${end.row}:${end.col}`;
}

/** Several observers as one. */
export function combineObservers(observers: readonly Observer[]): Observer | undefined {
  const [first] = observers;
  if (observers.length <= 1) return first;
  return {
    enterExpr: (expr, frame, slots) => observers.forEach((observer) => observer.enterExpr?.(expr, frame, slots)),
    failExpr: (expr) => observers.forEach((observer) => observer.failExpr?.(expr)),
    enterRule: (rule) => observers.forEach((observer) => observer.enterRule?.(rule)),
    exitRule: (rule, value) => observers.forEach((observer) => observer.exitRule?.(rule, value)),
    failRule: (rule) => observers.forEach((observer) => observer.failRule?.(rule)),
  };
}

function percentage(covered: number, missed: number): number {
  return covered + missed === 0 ? 0 : (100 * covered) / (covered + missed);
}

function rangeOf(location: Location): CoverageRange {
  const lines = location.text.split("\n");
  const last = lines.at(-1) ?? "";
  return {
    start: { row: location.row, col: location.col },
    end: {
      row: location.row + lines.length - 1,
      col: lines.length === 1 ? location.col + last.length : last.length + 1,
    },
  };
}

/** Heads of rules, and expressions but declarations. */
function coverableLocations(module: Module): readonly Location[] {
  const locations: Location[] = [];
  const add = (expr: Expr): void => {
    if (expr.kind !== "expr-some") locations.push(expr.loc);
  };
  for (const { head, body } of module.rules.flatMap(branchesOf)) {
    locations.push(head.loc);
    eachExpr(body, add);
    for (const term of [...head.ref.parts, ...(head.args ?? []), head.key, head.value]) {
      if (term !== undefined) eachExprInTerm(term, add);
    }
  }
  return locations;
}
