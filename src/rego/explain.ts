/** A trace of an evaluation as OPA's `--explain` shows it: what was entered, evaluated, left and why it failed. */
import type { Observer } from "./evaluate/frame.ts";
import type { Expr, Location, Rule } from "./syntax/ast.ts";
import { printExpr, printRef } from "./syntax/print.ts";

export type ExplainMode = "full" | "fails" | "notes";

export interface TraceEvent {
  readonly op: "Enter" | "Eval" | "Exit" | "Fail" | "Note";
  readonly depth: number;
  readonly location: Location;
  readonly text: string;
}

/** A trace of a policy that runs for long is cut off here. */
export const maxTraceEvents = 100_000;

export interface Tracer {
  readonly observer: Observer;
  readonly events: readonly TraceEvent[];
  note(message: string, location: Location): void;
}

export function createTracer(): Tracer {
  const events: TraceEvent[] = [];
  let depth = 0;
  const add = (op: TraceEvent["op"], location: Location, text: string): void => {
    if (events.length < maxTraceEvents) events.push({ op, depth, location, text });
  };
  return {
    events,
    note: (message, location) => add("Note", location, `"${message}"`),
    observer: {
      enterExpr: (expr: Expr) => {
        if (!expr.generated) add("Eval", expr.loc, printedExpr(expr));
      },
      failExpr: (expr: Expr) => {
        if (!expr.generated) add("Fail", expr.loc, printedExpr(expr));
      },
      enterRule: (rule: Rule) => {
        add("Enter", rule.loc, printRef(rule.head.ref));
        depth++;
      },
      exitRule: (rule: Rule) => {
        add("Exit", rule.loc, printRef(rule.head.ref));
        depth--;
      },
      failRule: () => {
        depth--;
      },
    },
  };
}

export function formatTrace(events: readonly TraceEvent[], mode: ExplainMode): string {
  const shown = events.filter(
    ({ op }) => mode === "full" || op === "Note" || op === "Enter" || (mode === "fails" && op === "Fail"),
  );
  const places = shown.map(({ location }) =>
    location.file === "" ? `query:${location.row}` : `${location.file}:${location.row}`,
  );
  const width = Math.max(12, ...places.map((place) => place.length));
  return shown
    .map(({ op, depth, text }, index) => `${(places[index] ?? "").padEnd(width)} ${"| ".repeat(depth)}${op} ${text}\n`)
    .join("");
}

/** The author's text; generated names never show. */
function printedExpr(expr: Expr): string {
  return expr.loc.text === "" ? printExpr(expr) : expr.loc.text.replace(/\s+/g, " ");
}
