/** Plans for terms: getters for bound ones, matchers for patterns, and comprehensions. */
import type { Comprehension, Term } from "../syntax/ast.ts";
import { equalValues } from "../values/compare.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { RegoError } from "./errors.ts";
import { planBody } from "./expressions.ts";
import { Bindings, type Bound, type Exec, type Frame, type Getter, type Matcher, type PlanContext } from "./frame.ts";

/** A getter for a term whose variables are all bound. */
export function planGetter(term: Term, bound: Bound, plan: PlanContext): Getter {
  const constant = constantValue(term);
  if (constant !== undefined) return () => constant;
  switch (term.kind) {
    case "var": {
      const slot = plan.slots.of(term.name);
      return (frame) => frame[slot];
    }
    case "array": {
      const getters = term.items.map((item) => planGetter(item, bound, plan));
      return (frame) => {
        const items: Value[] = new Array(getters.length);
        for (let index = 0; index < getters.length; index++) {
          const value = getters[index]?.(frame);
          if (value === undefined) return undefined;
          items[index] = value;
        }
        return items;
      };
    }
    case "set": {
      const getters = term.items.map((item) => planGetter(item, bound, plan));
      return (frame) => {
        const set = new RegoSet();
        for (const getter of getters) {
          const value = getter(frame);
          if (value === undefined) return undefined;
          set.add(value);
        }
        return set;
      };
    }
    case "object": {
      const getters = term.entries.map(
        ([key, value]) => [planGetter(key, bound, plan), planGetter(value, bound, plan)] as const,
      );
      return (frame) => {
        const object = new RegoObject();
        for (const [getKey, getValue] of getters) {
          const key = getKey(frame);
          const value = getValue(frame);
          if (key === undefined || value === undefined) return undefined;
          // In a literal, the last one of equal keys wins; only comprehensions and rules object.
          object.set(key, value);
        }
        return object;
      };
    }
    case "array-comprehension":
    case "set-comprehension":
    case "object-comprehension":
      return planComprehension(term, bound, plan);
    default:
      throw new TypeError(`no getter for ${term.kind}`);
  }
}

/** The value of a term without variables; built once. */
export function constantValue(term: Term): Value | undefined {
  switch (term.kind) {
    case "scalar":
      return term.value;
    case "array":
    case "set": {
      const items: Value[] = [];
      for (const item of term.items) {
        const value = constantValue(item);
        if (value === undefined) return undefined;
        items.push(value);
      }
      return term.kind === "array" ? items : new RegoSet(items);
    }
    case "object": {
      const object = new RegoObject();
      for (const [key, value] of term.entries) {
        const constantKey = constantValue(key);
        const constant = constantValue(value);
        if (constantKey === undefined || constant === undefined) return undefined;
        object.set(constantKey, constant);
      }
      return object;
    }
    default:
      return undefined;
  }
}

/** All variables of the term are bound. */
export function isClosed(term: Term, bound: Bound): boolean {
  switch (term.kind) {
    case "scalar":
      return true;
    case "var":
      return bound.has(term.name);
    case "array":
    case "set":
      return term.items.every((item) => isClosed(item, bound));
    case "object":
      return term.entries.every(([key, value]) => isClosed(key, bound) && isClosed(value, bound));
    case "array-comprehension":
    case "set-comprehension":
    case "object-comprehension":
      return true;
    default:
      return false;
  }
}

/** A matcher; adds the variables that it binds to `bound`. */
export function planMatcher(term: Term, bound: Bindings, plan: PlanContext): Matcher {
  const constant = constantValue(term);
  if (constant !== undefined) {
    if (constant === null || typeof constant !== "object") return (_, value) => equalScalar(constant, value);
    return (_, value) => equalValues(constant, value);
  }
  if (term.kind === "var") {
    const slot = plan.slots.of(term.name);
    if (bound.has(term.name)) {
      return (frame, value) => {
        const known = frame[slot];
        return known !== undefined && equalValues(known, value);
      };
    }
    bound.add(term.name);
    return (frame, value) => {
      frame[slot] = value;
      return true;
    };
  }
  if (isClosed(term, bound)) {
    const getter = planGetter(term, bound, plan);
    return (frame, value) => {
      const known = getter(frame);
      return known !== undefined && equalValues(known, value);
    };
  }
  if (term.kind === "array") {
    const matchers = term.items.map((item) => planMatcher(item, bound, plan));
    return (frame, value) => {
      if (!isArray(value) || value.length !== matchers.length) return false;
      for (let index = 0; index < matchers.length; index++) {
        const item = value[index];
        if (item === undefined || !matchers[index]?.(frame, item)) return false;
      }
      return true;
    };
  }
  if (term.kind === "object") return planObjectMatcher(term, bound, plan);
  throw new TypeError(`cannot unify with ${term.kind}`);
}

function planObjectMatcher(term: Term & { readonly kind: "object" }, bound: Bindings, plan: PlanContext): Matcher {
  const fields = term.entries.map(
    ([key, value]) => [planGetter(key, bound, plan), planMatcher(value, bound, plan)] as const,
  );
  return (frame, value) => {
    if (!(value instanceof RegoObject) || value.size !== fields.length) return false;
    for (const [getKey, match] of fields) {
      const key = getKey(frame);
      const field = key === undefined ? undefined : value.get(key);
      if (field === undefined || !match(frame, field)) return false;
    }
    return true;
  };
}

function equalScalar(constant: null | boolean | number | string, value: Value): boolean {
  return (
    constant === value || (typeof constant === "number" && typeof value === "object" && equalValues(constant, value))
  );
}

function planComprehension(term: Comprehension, bound: Bound, plan: PlanContext): Getter {
  const result = plan.slots.fresh();
  const { machine } = plan;
  const inner = new Bindings(bound);
  const run = (collect: (bound: Bound) => Exec): Exec => {
    // The head's variables are bound by the body.
    return planBody(term.body, inner, collect, plan);
  };
  if (term.kind === "object-comprehension") {
    const body = run((after) => {
      const getKey = planGetter(term.key, after, plan);
      const getValue = planGetter(term.value, after, plan);
      return (frame) => {
        const object = frame[result];
        const key = getKey(frame);
        const value = getValue(frame);
        if (!(object instanceof RegoObject) || key === undefined || value === undefined) return false;
        const known = object.get(key);
        if (known !== undefined && !equalValues(known, value)) {
          throw new RegoError("eval_conflict_error", "object keys must be unique", term.loc);
        }
        machine.grow(1);
        object.set(key, value);
        return false;
      };
    });
    return collector(result, body, () => new RegoObject());
  }
  const isSet = term.kind === "set-comprehension";
  const body = run((after) => {
    const getter = planGetter(term.head, after, plan);
    return (frame) => {
      const collection = frame[result];
      const value = getter(frame);
      if (value === undefined) return false;
      machine.grow(1);
      if (collection instanceof RegoSet) collection.add(value);
      else if (isArray(collection)) (collection as Value[]).push(value);
      return false;
    };
  });
  return collector(result, body, () => (isSet ? new RegoSet() : []));
}

function collector(slot: number, body: Exec, make: () => Value): Getter {
  return (frame: Frame) => {
    const collection = make();
    frame[slot] = collection;
    body(frame);
    return collection;
  };
}
