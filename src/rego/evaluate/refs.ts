/** Plans for refs: walking values, iterating over unbound keys, and crossing from packages to rules and base documents. */
import type { RefTerm, Term } from "../syntax/ast.ts";
import { compareValues } from "../values/compare.ts";
import { RegoObject, type Value } from "../values/value.ts";
import { planHandOn } from "./deferred-conflicts.ts";
import { Bindings, type Bound, type Consumer, type Exec, type Frame, type Getter, type PlanContext } from "./frame.ts";
import { iterate, lookup } from "./lookup.ts";
import type { RuleGroup, RuleNode } from "./program.ts";
import { constantValue, isClosed, planGetter, planMatcher } from "./terms.ts";
import { addRefVars } from "./unify.ts";

export function planRef(ref: RefTerm, bound: Bound, consume: Consumer, plan: PlanContext): Exec {
  const [head] = ref.parts;
  if (head?.kind !== "var") throw new TypeError("a ref starts with a variable");
  const { machine } = plan;
  if (head.name === "data") {
    return planNode(plan.program.root, ref.parts, 1, bound, consume, plan);
  }
  const walk = planParts(ref.parts, 1, bound, consume, plan);
  if (head.name === "input") {
    return (frame) => {
      const { input } = machine;
      return input !== undefined && walk(frame, input);
    };
  }
  const slot = plan.slots.of(head.name);
  return (frame) => {
    const value = frame[slot];
    return value !== undefined && walk(frame, value);
  };
}

/** Walks from a value along the rest of a ref. */
export function planParts(
  parts: readonly Term[],
  index: number,
  bound: Bound,
  consume: Consumer,
  plan: PlanContext,
  find: (container: Value, key: Value) => Value | undefined = lookup,
): Consumer {
  const part = parts[index];
  if (part === undefined) return consume;
  const { machine } = plan;
  const constant = constantValue(part);
  if (constant !== undefined) {
    const rest = planParts(parts, index + 1, bound, consume, plan, find);
    if (typeof constant === "string") {
      return (frame, value) => {
        const child = value instanceof RegoObject ? value.field(constant) : find(value, constant);
        return child !== undefined && rest(frame, child);
      };
    }
    return (frame, value) => {
      const child = find(value, constant);
      return child !== undefined && rest(frame, child);
    };
  }
  if (isClosed(part, bound)) {
    const getter = planGetter(part, bound, plan);
    const rest = planParts(parts, index + 1, bound, consume, plan, find);
    return (frame, value) => {
      const key = getter(frame);
      const child = key === undefined ? undefined : find(value, key);
      return child !== undefined && rest(frame, child);
    };
  }
  const after = new Bindings(bound);
  const matcher = planMatcher(part, after, plan);
  const rest = planParts(parts, index + 1, after, consume, plan, find);
  if (part.kind === "var") {
    const slot = plan.slots.of(part.name);
    return (frame, value) =>
      iterate(value, (key, child) => {
        machine.step();
        frame[slot] = key;
        return rest(frame, child);
      });
  }
  return (frame, value) =>
    iterate(value, (key, child) => {
      machine.step();
      return matcher(frame, key) && rest(frame, child);
    });
}

/** From a node of the rule tree: rules where there are some, base documents elsewhere. */
function planNode(
  node: RuleNode,
  parts: readonly Term[],
  index: number,
  bound: Bound,
  consume: Consumer,
  plan: PlanContext,
): Exec {
  if (node.group !== undefined) return planGroup(node.group, parts, index, bound, consume, plan);
  const { machine, evaluator } = plan;
  const part = parts[index];
  if (part === undefined) {
    return (frame) => {
      machine.step();
      const value = evaluator.extent(node.path);
      return value !== undefined && consume(frame, value);
    };
  }
  const constant = constantValue(part);
  if (constant !== undefined) {
    const child = typeof constant === "string" ? node.children.get(constant) : undefined;
    if (child !== undefined) return planNode(child, parts, index + 1, bound, consume, plan);
    const rest = planParts(parts, index, bound, consume, plan, lookupBase);
    return (frame) => {
      const base = baseAt(machine.data, node.path);
      return base !== undefined && rest(frame, base);
    };
  }
  const after = new Bindings(bound);
  addRefVars(part, after);
  const rest = planParts(parts, index + 1, after, consume, plan, lookupBase);
  const plans = new Map<string, Exec>();
  const planChild = (key: string, child: RuleNode): Exec => {
    let exec = plans.get(key);
    if (exec === undefined) {
      exec = planNode(child, parts, index + 1, after, consume, plan);
      plans.set(key, exec);
    }
    return exec;
  };
  const step = (frame: Frame, key: Value): boolean => {
    const child = typeof key === "string" ? node.children.get(key) : undefined;
    if (child !== undefined && typeof key === "string") return planChild(key, child)(frame);
    const base = baseAt(machine.data, node.path);
    const value = base === undefined ? undefined : lookupBase(base, key);
    return value !== undefined && rest(frame, value);
  };
  if (isClosed(part, bound)) {
    const getter = planGetter(part, bound, plan);
    return (frame) => {
      const key = getter(frame);
      return key !== undefined && step(frame, key);
    };
  }
  const matcher = planMatcher(part, new Bindings(bound), plan);
  return (frame) => {
    for (const key of keysOf(node, baseAt(machine.data, node.path))) {
      machine.step();
      if (matcher(frame, key) && step(frame, key)) return true;
    }
    return false;
  };
}

/** Paths of base documents are strings: `data.a[2]` also finds the field named "2". */
function lookupBase(container: Value, key: Value): Value | undefined {
  if (typeof key === "number" && container instanceof RegoObject) return container.field(String(key));
  return lookup(container, key);
}

function keysOf(node: RuleNode, base: Value | undefined): readonly Value[] {
  const keys = new Set<Value>(node.children.keys());
  if (base instanceof RegoObject) for (const key of base.keys()) keys.add(key);
  return [...keys].sort(compareValues);
}

export function baseAt(data: Value | undefined, path: readonly string[]): Value | undefined {
  let value = data;
  for (const name of path) {
    if (!(value instanceof RegoObject)) return undefined;
    value = value.field(name);
  }
  return value;
}

function planGroup(
  group: RuleGroup,
  parts: readonly Term[],
  index: number,
  bound: Bound,
  consume: Consumer,
  plan: PlanContext,
): Exec {
  const { evaluator } = plan;
  if (group.kind === "function") return () => false;
  if (group.kind === "object") {
    const getters: Getter[] = [];
    for (let at = index; at < parts.length; at++) {
      const part = parts[at];
      if (part === undefined || !isClosed(part, bound)) break;
      getters.push(planGetter(part, bound, plan));
    }
    if (getters.length > 0) return planKeyed(group, getters, parts, index, bound, consume, plan);
  }
  const walk = planParts(parts, index, bound, consume, plan);
  const { id } = group;
  if (plan.deferred !== undefined) return planHandOn(() => evaluator.groupValue(id), walk, plan.deferred);
  return (frame) => {
    const value = evaluator.groupValue(id);
    return value !== undefined && walk(frame, value);
  };
}

function planKeyed(
  group: RuleGroup,
  getters: readonly Getter[],
  parts: readonly Term[],
  index: number,
  bound: Bound,
  consume: Consumer,
  plan: PlanContext,
): Exec {
  const walk = planParts(parts, index + getters.length, bound, consume, plan);
  const { evaluator } = plan;
  return (frame) => {
    const keys: Value[] = [];
    for (const getter of getters) {
      const key = getter(frame);
      if (key === undefined) return false;
      keys.push(key);
    }
    const value = evaluator.groupPart(group.id, keys);
    return value !== undefined && walk(frame, value);
  };
}
