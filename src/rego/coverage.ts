/** Which heads and expressions were evaluated. */
import type { Observer } from "./evaluate/frame.ts";
import type { Body, Expr, Location, Module, Rule, Term } from "./syntax/ast.ts";

export interface CoverageRange {
  readonly start: { readonly row: number; readonly col: number };
  readonly end: { readonly row: number; readonly col: number };
}

export interface FileCoverage {
  readonly covered?: readonly CoverageRange[];
  readonly not_covered?: readonly CoverageRange[];
  readonly covered_lines?: number;
  readonly not_covered_lines?: number;
  readonly coverage: number;
}

export interface CoverageReport {
  readonly files: { readonly [file: string]: FileCoverage };
  readonly covered_lines: number;
  readonly not_covered_lines: number;
  readonly coverage: number;
}

export class CoverageRecorder {
  readonly #hits = new Map<string, Set<number>>();

  readonly observer: Observer = {
    enterExpr: (expr) => this.#hit(expr.loc),
    exitRule: (rule) => this.#hit(rule.head.loc),
  };

  #hit(location: Location): void {
    let offsets = this.#hits.get(location.file);
    if (offsets === undefined) {
      offsets = new Set();
      this.#hits.set(location.file, offsets);
    }
    offsets.add(location.offset);
  }

  report(modules: readonly Module[]): CoverageReport {
    const files: { [file: string]: FileCoverage } = {};
    let coveredTotal = 0;
    let missedTotal = 0;
    for (const module of [...modules].sort((left, right) => (left.file < right.file ? -1 : 1))) {
      const hits = this.#hits.get(module.file) ?? new Set();
      const locations = coverableLocations(module);
      const covered = locations.filter((location) => hits.has(location.offset));
      const missed = locations.filter((location) => !hits.has(location.offset));
      const coveredLines = new Set(covered.map(({ row }) => row)).size;
      const missedLines = [...new Set(missed.map(({ row }) => row))].filter(
        (row) => !covered.some((location) => location.row === row),
      ).length;
      coveredTotal += coveredLines;
      missedTotal += missedLines;
      files[module.file] = {
        ...(covered.length > 0 && { covered: covered.map(rangeOf) }),
        ...(missed.length > 0 && { not_covered: missed.map(rangeOf) }),
        ...(coveredLines > 0 && { covered_lines: coveredLines }),
        ...(missedLines > 0 && { not_covered_lines: missedLines }),
        coverage: percentage(coveredLines, missedLines),
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
  return covered + missed === 0 ? 100 : (100 * covered) / (covered + missed);
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

function coverableLocations(module: Module): readonly Location[] {
  const locations: Location[] = [];
  const addBody = (body: Body): void => {
    for (const expr of body) addExpr(expr);
  };
  const addExpr = (expr: Expr): void => {
    if (expr.kind !== "expr-some" || expr.symbols[0]?.kind === "call") locations.push(expr.loc);
    if (expr.kind === "expr-every" || expr.kind === "expr-not") addBody(expr.body);
    else if (expr.kind === "expr-and" || expr.kind === "expr-or") {
      addBody(expr.left);
      addBody(expr.right);
    } else if (expr.kind === "expr-term") addTerm(expr.term);
    else if (expr.kind === "expr-call") expr.args.forEach(addTerm);
  };
  const addTerm = (term: Term): void => {
    if (term.kind.endsWith("comprehension") && "body" in term) addBody(term.body);
    else if (term.kind === "array" || term.kind === "set") term.items.forEach(addTerm);
    else if (term.kind === "call") term.args.forEach(addTerm);
  };
  const addRule = (rule: Rule): void => {
    locations.push(rule.head.loc);
    if (!rule.generatedBody && !rule.isDefault) addBody(rule.body);
    if (rule.head.value !== undefined) addTerm(rule.head.value);
    if (rule.elseRule !== undefined) addRule(rule.elseRule);
  };
  module.rules.forEach(addRule);
  return locations.sort((left, right) => left.offset - right.offset);
}
