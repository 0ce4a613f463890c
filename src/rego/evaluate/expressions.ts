/** Plans for bodies and expressions. */
import { varsOfExpr } from "../compile/variables.ts";
import type { Body, Expr, Term } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { planCall } from "./calls.ts";
import { Bindings, type Bound, type Exec, type PlanContext } from "./frame.ts";
import { iterate } from "./lookup.ts";
import { planRef } from "./refs.ts";
import { constantValue, planGetter } from "./terms.ts";
import { planUnify } from "./unify.ts";
import { planWith } from "./withs.ts";

/** Plans a body backwards: each expression knows what comes next, and which variables are bound before it. */
export function planBody(body: Body, bound: Bound, finish: (after: Bound) => Exec, plan: PlanContext): Exec {
  // Where each variable is bound first: all expressions share this one map.
  const firstAt = new Map<string, number>();
  body.forEach((expr, index) => {
    for (const name of varsOfExpr(expr)) if (!firstAt.has(name)) firstAt.set(name, index);
  });
  const boundAt = (index: number): Bound => ({
    has: (name) => (firstAt.get(name) ?? Number.POSITIVE_INFINITY) < index || bound.has(name),
  });
  let next = finish(boundAt(body.length));
  for (let index = body.length - 1; index >= 0; index--) {
    const expr = body[index];
    if (expr !== undefined) next = planExpr(expr, boundAt(index), next, plan);
  }
  return next;
}

const found: Exec = () => true;

function planExpr(expr: Expr, bound: Bound, next: Exec, plan: PlanContext): Exec {
  const { observer, slots } = plan;
  if (observer === undefined) return planModified(expr, bound, next, plan);
  // An expression fails if nothing ever follows it; asking for another way is no failure.
  let successes = 0;
  const counted: Exec = (frame) => {
    successes++;
    return next(frame);
  };
  const exec = planModified(expr, bound, counted, plan);
  return (frame) => {
    observer.enterExpr?.(expr, frame, slots);
    const before = successes;
    const isDone = exec(frame);
    if (successes === before) observer.failExpr?.(expr);
    return isDone;
  };
}

function planModified(expr: Expr, bound: Bound, next: Exec, plan: PlanContext): Exec {
  if (expr.negated) {
    const inner = planModified({ ...expr, negated: false }, bound, found, plan);
    return (frame) => !inner(frame) && next(frame);
  }
  if (expr.withs.length > 0) {
    return planWith(expr.withs, bound, next, plan, (after) => planPlain({ ...expr, withs: [] }, bound, after, plan));
  }
  return planPlain(expr, bound, next, plan);
}

function planPlain(expr: Expr, bound: Bound, next: Exec, plan: PlanContext): Exec {
  switch (expr.kind) {
    case "expr-term":
      return planTermExpr(expr.term, bound, next, plan);
    case "expr-call": {
      const [left, right] = expr.args;
      if (operatorName(expr.operator) === "eq" && left !== undefined && right !== undefined && expr.args.length === 2) {
        return planUnify(left, right, bound, next, plan);
      }
      return planCall(expr, bound, next, plan);
    }
    case "expr-every":
      return planEvery(expr, bound, next, plan);
    case "expr-not": {
      const inner = planBody(expr.body, bound, () => found, plan);
      return (frame) => !inner(frame) && next(frame);
    }
    case "expr-and": {
      const left = planBody(expr.left, bound, () => found, plan);
      const right = planBody(expr.right, bound, () => found, plan);
      return (frame) => left(frame) && right(frame) && next(frame);
    }
    case "expr-or": {
      const left = planBody(expr.left, bound, () => found, plan);
      const right = planBody(expr.right, bound, () => found, plan);
      return (frame) => (left(frame) || right(frame)) && next(frame);
    }
    case "expr-some":
      return next;
  }
}

function planTermExpr(term: Term, bound: Bound, next: Exec, plan: PlanContext): Exec {
  if (term.kind === "ref") return planRef(term, bound, (frame, value) => value !== false && next(frame), plan);
  const constant = constantValue(term);
  if (constant !== undefined) return constant === false ? () => false : next;
  const getter = planGetter(term, bound, plan);
  return (frame) => {
    const value = getter(frame);
    return value !== undefined && value !== false && next(frame);
  };
}

function planEvery(expr: Expr & { readonly kind: "expr-every" }, bound: Bound, next: Exec, plan: PlanContext): Exec {
  const domain = planGetter(expr.domain, bound, plan);
  const inner = new Bindings(bound);
  const slotOf = (term: Term | undefined): number | undefined => {
    if (term?.kind !== "var") return undefined;
    inner.add(term.name);
    return plan.slots.of(term.name);
  };
  const keySlot = slotOf(expr.key);
  const valueSlot = slotOf(expr.value);
  const body = planBody(expr.body, inner, () => found, plan);
  const { machine } = plan;
  return (frame) => {
    const collection = domain(frame);
    if (collection === undefined || collection === null || typeof collection !== "object") return false;
    const isRefuted = iterate(collection, (key, value) => {
      machine.step();
      if (keySlot !== undefined) frame[keySlot] = key;
      if (valueSlot !== undefined) frame[valueSlot] = value;
      return !body(frame);
    });
    return !isRefuted && next(frame);
  };
}
