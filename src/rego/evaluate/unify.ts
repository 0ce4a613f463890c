/** Plans for `=`: a side that is known is matched against the other; two half-known sides are taken apart. */
import type { Term } from "../syntax/ast.ts";
import { equalValues } from "../values/compare.ts";
import { Bindings, type Bound, type Exec, type PlanContext } from "./frame.ts";
import { planRef } from "./refs.ts";
import { constantValue, isClosed, planGetter, planMatcher } from "./terms.ts";

export function planUnify(left: Term, right: Term, bound: Bound, next: Exec, plan: PlanContext): Exec {
  if (left.kind === "ref" && right.kind === "ref") return planTwoRefs(left, right, bound, next, plan);
  if (left.kind === "ref") return planRefMatch(left, right, bound, next, plan);
  if (right.kind === "ref") return planRefMatch(right, left, bound, next, plan);
  if (isClosed(left, bound)) return planMatch(left, right, bound, next, plan);
  if (isClosed(right, bound)) return planMatch(right, left, bound, next, plan);
  return planPairs(left, right, bound, next, plan);
}

function planMatch(known: Term, pattern: Term, bound: Bound, next: Exec, plan: PlanContext): Exec {
  const constant = constantValue(known);
  const matcher = planMatcher(pattern, new Bindings(bound), plan);
  if (constant !== undefined) return (frame) => matcher(frame, constant) && next(frame);
  const getter = planGetter(known, bound, plan);
  return (frame) => {
    const value = getter(frame);
    return value !== undefined && matcher(frame, value) && next(frame);
  };
}

function planRefMatch(
  ref: Term & { readonly kind: "ref" },
  pattern: Term,
  bound: Bound,
  next: Exec,
  plan: PlanContext,
): Exec {
  const after = new Bindings(bound);
  addRefVars(ref, after);
  const matcher = planMatcher(pattern, after, plan);
  return planRef(ref, bound, (frame, value) => matcher(frame, value) && next(frame), plan);
}

function planTwoRefs(
  left: Term & { readonly kind: "ref" },
  right: Term & { readonly kind: "ref" },
  bound: Bound,
  next: Exec,
  plan: PlanContext,
): Exec {
  const slot = plan.slots.fresh();
  const after = new Bindings(bound);
  addRefVars(left, after);
  const second = planRef(
    right,
    after,
    (frame, value) => {
      const known = frame[slot];
      return known !== undefined && equalValues(known, value) && next(frame);
    },
    plan,
  );
  return planRef(
    left,
    bound,
    (frame, value) => {
      const saved = frame[slot];
      frame[slot] = value;
      const isDone = second(frame);
      frame[slot] = saved;
      return isDone;
    },
    plan,
  );
}

export function addRefVars(term: Term, names: Bindings): void {
  if (term.kind === "var") names.add(term.name);
  else if (term.kind === "ref") for (const part of term.parts) addRefVars(part, names);
  else if (term.kind === "array" || term.kind === "set") for (const item of term.items) addRefVars(item, names);
  else if (term.kind === "object") {
    for (const [key, value] of term.entries) {
      addRefVars(key, names);
      addRefVars(value, names);
    }
  }
}

/** `[x, 1] = [2, y]`: element by element, those first whose one side is known. */
function planPairs(left: Term, right: Term, bound: Bound, next: Exec, plan: PlanContext): Exec {
  const pairs: (readonly [Term, Term])[] = [];
  if (!takeApart(left, right, pairs)) return () => false;
  const order: (readonly [Term, Term])[] = [];
  const known = new Bindings(bound);
  while (pairs.length > 0) {
    const index = pairs.findIndex(([a, b]) => isClosed(a, known) || isClosed(b, known));
    const [pair] = pairs.splice(Math.max(index, 0), 1);
    if (pair === undefined) break;
    order.push(pair);
    addRefVars(pair[0], known);
    addRefVars(pair[1], known);
  }
  const befores: Bound[] = [];
  let running = new Bindings(bound);
  for (const [a, b] of order) {
    befores.push(running);
    running = new Bindings(running);
    addRefVars(a, running);
    addRefVars(b, running);
  }
  let exec = next;
  for (let index = order.length - 1; index >= 0; index--) {
    const pair = order[index];
    const before = befores[index];
    if (pair !== undefined && before !== undefined) exec = planUnify(pair[0], pair[1], before, exec, plan);
  }
  return exec;
}

/** False if the shapes can never be equal. */
function takeApart(left: Term, right: Term, pairs: (readonly [Term, Term])[]): boolean {
  if (left.kind === "array" && right.kind === "array") {
    if (left.items.length !== right.items.length) return false;
    return left.items.every((item, index) => {
      const other = right.items[index];
      return other !== undefined && takeApart(item, other, pairs);
    });
  }
  if (left.kind === "object" && right.kind === "object") {
    if (left.entries.length !== right.entries.length) return false;
    return left.entries.every(([key, value]) => {
      const constant = constantValue(key);
      const other = right.entries.find(([candidate]) => {
        const otherConstant = constantValue(candidate);
        if (constant !== undefined && otherConstant !== undefined) return equalValues(constant, otherConstant);
        return key.kind === "var" && candidate.kind === "var" && key.name === candidate.name;
      });
      return other !== undefined && takeApart(value, other[1], pairs);
    });
  }
  const isVar = left.kind === "var" || right.kind === "var";
  const isSameKind = left.kind === right.kind;
  if (!isVar && !isSameKind) return false;
  pairs.push([left, right]);
  return true;
}
