/** Evaluation of rules: every document is computed once per evaluation and remembered. */
import type { Term } from "../syntax/ast.ts";
import { compareValues, equalValues } from "../values/compare.ts";
import { scalarKeyOf } from "../values/number.ts";
import { canonicalText, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { DocumentBuilder } from "./document-builder.ts";
import { RegoError } from "./errors.ts";
import { planBody } from "./expressions.ts";
import {
  Bindings,
  type Evaluator,
  type Exec,
  type Frame,
  newFrame,
  type Observer,
  type PlanContext,
  Slots,
} from "./frame.ts";
import { lookup } from "./lookup.ts";
import type { Machine, MemoEntry } from "./machine.ts";
import type { CompiledRule, FunctionGroup, ObjectGroup, Program, RuleGroup, RuleNode } from "./program.ts";
import { findNode } from "./program.ts";
import { baseAt } from "./refs.ts";
import { candidateRules, type RuleIndex } from "./rule-index.ts";
import { startsOnlyIfPossible } from "./rule-start.ts";
import { constantValue, planGetter, planMatcher } from "./terms.ts";

interface RulePlan {
  readonly slots: Slots;
  readonly run: Exec;
  readonly rule: CompiledRule;
}

export class RuleEvaluator implements Evaluator {
  readonly #machine: Machine;
  readonly #program: Program;
  readonly #observer: Observer | undefined;
  readonly #customBuiltins: PlanContext["customBuiltins"];
  readonly #plans = new Map<CompiledRule, RulePlan>();
  readonly #keyedPlans = new Map<CompiledRule, (RulePlan | undefined)[]>();
  readonly #indexes: (RuleIndex | undefined)[] = [];

  constructor(
    program: Program,
    machine: Machine,
    options: { readonly observer?: Observer | undefined; readonly customBuiltins?: PlanContext["customBuiltins"] } = {},
  ) {
    this.#program = program;
    this.#customBuiltins = options.customBuiltins;
    this.#machine = machine;
    this.#observer = options.observer;
  }

  /** A context for planning one rule or query. */
  context(slots: Slots): PlanContext {
    return {
      machine: this.#machine,
      program: this.#program,
      slots,
      observer: this.#observer,
      evaluator: this,
      customBuiltins: this.#customBuiltins,
    };
  }

  groupValue(groupId: number): Value | undefined {
    const machine = this.#machine;
    const known = machine.memo[groupId];
    if (known?.hasWhole) return known.whole;
    const group = this.#group(groupId);
    if (machine.overrides !== undefined && isOverridden(group.path, machine.overrides)) {
      return baseAt(machine.data, group.path);
    }
    machine.step();
    machine.enter();
    const value = this.#compute(group);
    machine.leave();
    const entry = memoEntry(machine, groupId);
    entry.whole = value;
    entry.hasWhole = true;
    return value;
  }

  groupPart(groupId: number, keys: readonly Value[]): Value | undefined {
    const machine = this.#machine;
    const group = this.#group(groupId);
    if (group.kind !== "object") return walk(this.groupValue(groupId), keys);
    if (machine.overrides !== undefined && isOverridden(group.path, machine.overrides)) {
      return walk(baseAt(machine.data, group.path), keys);
    }
    const entry = memoEntry(machine, groupId);
    if (entry.hasWhole) return walk(entry.whole, keys);
    const [only] = keys;
    const key = keys.length === 1 && typeof only === "string" ? only : canonicalText(keys);
    entry.byKey ??= new Map();
    if (entry.byKey.has(key)) return entry.byKey.get(key);
    machine.step();
    machine.enter();
    const value = walk(this.#computeObject(group, keys), keys);
    machine.leave();
    entry.byKey.set(key, value);
    return value;
  }

  callFunction(groupId: number, args: readonly Value[]): Value | undefined {
    const machine = this.#machine;
    const group = this.#group(groupId) as FunctionGroup;
    const key = memoKey(args);
    if (key !== undefined) {
      const known = machine.memo[groupId]?.byKey;
      if (known?.has(key)) return known.get(key);
    }
    machine.step();
    machine.enter();
    const value = this.#single(group, args);
    machine.leave();
    if (key !== undefined) {
      const entry = memoEntry(machine, groupId);
      entry.byKey ??= new Map();
      entry.byKey.set(key, value);
    }
    return value;
  }

  extent(path: readonly string[]): Value | undefined {
    const node = findNode(this.#program.root, path);
    const base = baseAt(this.#machine.data, path);
    if (node === undefined) return base;
    return this.#nodeValue(node, base);
  }

  #nodeValue(node: RuleNode, base: Value | undefined): Value | undefined {
    const { group } = node;
    if (group !== undefined) return group.kind === "function" ? undefined : this.groupValue(group.id);
    const { overrides } = this.#machine;
    if (overrides?.some((path) => path.length <= node.path.length && isPrefix(path, node.path))) return base;
    const object = base instanceof RegoObject ? base.copy() : new RegoObject();
    for (const [name, child] of node.children) {
      const known = base instanceof RegoObject ? base.field(name) : undefined;
      const value = this.#nodeValue(child, known);
      if (value === undefined) continue;
      // In the whole document, a base document comes before a rule of the same name.
      if (known === undefined || child.group === undefined) object.set(name, value);
      else object.set(name, mergeDocuments(known, value));
    }
    return object;
  }

  #group(groupId: number): RuleGroup {
    const group = this.#program.groups[groupId];
    if (group === undefined) throw new RangeError(`no group ${groupId}`);
    return group;
  }

  #compute(group: RuleGroup): Value | undefined {
    switch (group.kind) {
      case "complete":
        return this.#single(group, undefined);
      case "set":
        return this.#computeSet(group);
      case "object":
        return this.#computeObject(group, []);
      case "function":
        return undefined;
    }
  }

  /** One value from all rules, or a conflict. */
  #single(group: RuleGroup, args: readonly Value[] | undefined): Value | undefined {
    let result: Value | undefined;
    for (const rule of this.#candidates(group, args)) {
      const value = this.#runBranches(rule, args);
      if (value === undefined) continue;
      if (result === undefined) result = value;
      else if (!equalValues(result, value)) throw conflict(group, rule);
    }
    if (result !== undefined) return result;
    const { defaultRule } = group;
    return defaultRule === undefined ? undefined : this.#run(defaultRule, args);
  }

  #candidates(group: RuleGroup, args: readonly Value[] | undefined): readonly CompiledRule[] {
    if (group.rules.length < 2) return group.rules;
    return candidateRules(group, this.#indexes, this.#machine, args);
  }

  #runBranches(rule: CompiledRule, args: readonly Value[] | undefined): Value | undefined {
    for (let branch: CompiledRule | undefined = rule; branch !== undefined; branch = branch.elseRule) {
      const value = this.#run(branch, args);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #run(rule: CompiledRule, args: readonly Value[] | undefined): Value | undefined {
    const plan = this.#plan(rule);
    const frame = newFrame(plan.slots);
    const observer = this.#observer;
    observer?.enterRule?.(rule.source);
    if (args !== undefined) for (let index = 0; index < args.length; index++) frame[index + 1] = args[index];
    plan.run(frame);
    const value = frame[0];
    if (observer !== undefined) {
      if (value === undefined) observer.failRule?.(rule.source);
      else observer.exitRule?.(rule.source, value);
    }
    return value;
  }

  #plan(rule: CompiledRule): RulePlan {
    const known = this.#plans.get(rule);
    if (known !== undefined) return known;
    const slots = new Slots();
    const context = this.context(slots);
    const bound = new Bindings();
    const args = rule.head.args ?? [];
    const argSlots = args.map(() => slots.fresh());
    const matchers = args.map((arg) => planMatcher(arg, bound, context));
    const body = planBody(
      rule.body,
      bound,
      (after) => {
        const { value } = rule.head;
        if (value === undefined) throw new TypeError("a rule without a value");
        const constant = constantValue(value);
        if (constant !== undefined) {
          return (frame) => {
            frame[0] = constant;
            return true;
          };
        }
        const getter = planGetter(value, after, context);
        return (frame) => {
          const next = getter(frame);
          if (next === undefined) return false;
          const previous = frame[0];
          if (previous === undefined) frame[0] = next;
          else if (!equalValues(previous, next)) throw conflictIn(rule);
          return false;
        };
      },
      context,
    );
    const run: Exec =
      args.length === 0
        ? body
        : (frame) => {
            for (let index = 0; index < matchers.length; index++) {
              const value = frame[argSlots[index] ?? 0];
              if (value === undefined || !matchers[index]?.(frame, value)) return false;
            }
            return body(frame);
          };
    const plan = { slots, run: startsOnlyIfPossible(rule, this.#machine, this.#program, run), rule };
    this.#plans.set(rule, plan);
    return plan;
  }

  #computeSet(group: RuleGroup): Value {
    const set = new RegoSet();
    for (const rule of this.#candidates(group, undefined)) {
      const plan = this.#setPlan(rule);
      const frame = newFrame(plan.slots);
      frame[0] = set;
      this.#observer?.enterRule?.(rule.source);
      const before = set.size;
      plan.run(frame);
      if (set.size > before) this.#observer?.exitRule?.(rule.source, set);
    }
    return set;
  }

  #setPlan(rule: CompiledRule): RulePlan {
    const known = this.#plans.get(rule);
    if (known !== undefined) return known;
    const slots = new Slots();
    const context = this.context(slots);
    const { machine } = context;
    const run = planBody(
      rule.body,
      new Bindings(),
      (after) => {
        const { key } = rule.head;
        if (key === undefined) throw new TypeError("a set rule without a member");
        const getter = planGetter(key, after, context);
        return (frame) => {
          const set = frame[0];
          const value = getter(frame);
          if (value !== undefined && set instanceof RegoSet) {
            machine.grow(1);
            set.add(value);
          }
          return false;
        };
      },
      context,
    );
    const plan = { slots, run: startsOnlyIfPossible(rule, this.#machine, this.#program, run), rule };
    this.#plans.set(rule, plan);
    return plan;
  }

  /** The document with everything below `keys`; with no keys, all of it. */
  #computeObject(group: ObjectGroup, keys: readonly Value[]): Value {
    const builder = new DocumentBuilder();
    for (const rule of this.#candidates(group, undefined)) {
      for (let branch: CompiledRule | undefined = rule; branch !== undefined; branch = branch.elseRule) {
        if (!mayMatch(branch.keys, keys)) break;
        const before = builder.insertions;
        this.#runKeyed(branch, keys, builder);
        if (builder.insertions > before) break;
      }
    }
    for (const rule of group.rules) {
      // A set with a fixed place exists even without members.
      const isFixedSet = rule.head.value === undefined && rule.keys.every(({ kind }) => kind === "scalar");
      if (!isFixedSet || !mayMatch(rule.keys, keys)) continue;
      const path = rule.keys.map((key) => constantValue(key) ?? null);
      if (walk(builder.root, path) === undefined) builder.insert(path, new RegoSet(), rule);
    }
    for (const rule of group.defaults) {
      if (!mayMatch(rule.keys, keys)) continue;
      const path = rule.keys.map((key) => constantValue(key) ?? null);
      if (walk(builder.root, path) !== undefined) continue;
      const value = rule.head.value === undefined ? undefined : constantValue(rule.head.value);
      if (value !== undefined) builder.insert(path, value, rule);
      else this.#runKeyed(rule, keys, builder);
    }
    return builder.root;
  }

  #runKeyed(rule: CompiledRule, keys: readonly Value[], builder: DocumentBuilder): void {
    const given = Math.min(keys.length, rule.keys.length);
    let plans = this.#keyedPlans.get(rule);
    if (plans === undefined) {
      plans = [];
      this.#keyedPlans.set(rule, plans);
    }
    const plan = plans[given] ?? this.#keyedPlan(rule, given);
    plans[given] = plan;
    const frame = newFrame(plan.slots);
    for (let index = 0; index < given; index++) frame[index + 1] = keys[index];
    builders.push(builder);
    this.#observer?.enterRule?.(rule.source);
    const before = builder.insertions;
    plan.run(frame);
    builders.pop();
    if (builder.insertions > before) this.#observer?.exitRule?.(rule.source, builder.root);
  }

  /** The first `given` keys are bound from outside. */
  #keyedPlan(rule: CompiledRule, given: number): RulePlan {
    const slots = new Slots();
    const context = this.context(slots);
    const keySlots = rule.keys.slice(0, given).map(() => slots.fresh());
    const bound = new Bindings();
    const matchers = rule.keys.slice(0, given).map((key) => planMatcher(key, bound, context));
    const { machine } = context;
    const body = planBody(
      rule.body,
      bound,
      (after) => {
        const getters = rule.keys.map((key) => planGetter(key, after, context));
        const { key, value } = rule.head;
        const getMember = key === undefined ? undefined : planGetter(key, after, context);
        const getValue = value === undefined ? undefined : planGetter(value, after, context);
        return (frame) => {
          const builder = builders.at(-1);
          if (builder === undefined) return false;
          const path: Value[] = [];
          for (const getter of getters) {
            const part = getter(frame);
            if (part === undefined) return false;
            path.push(part);
          }
          machine.grow(1);
          const member = getMember?.(frame);
          if (member !== undefined) builder.add(path, member, rule);
          const leaf = getValue?.(frame);
          if (leaf !== undefined) builder.insert(path, leaf, rule);
          return false;
        };
      },
      context,
    );
    const run: Exec = (frame) => {
      for (let index = 0; index < matchers.length; index++) {
        const value = frame[keySlots[index] ?? 0];
        if (value === undefined || !matchers[index]?.(frame, value)) return false;
      }
      return body(frame);
    };
    return { slots, run: startsOnlyIfPossible(rule, this.#machine, this.#program, run), rule };
  }
}

/** The documents under construction, innermost last: plans are shared, so they cannot hold them. */
const builders: DocumentBuilder[] = [];

function memoEntry(machine: Machine, groupId: number): MemoEntry {
  let entry = machine.memo[groupId];
  if (entry === undefined) {
    entry = { whole: undefined, hasWhole: false, byKey: undefined };
    machine.memo[groupId] = entry;
  }
  return entry;
}

/** Only scalars make cheap keys; calls with larger arguments are computed again. */
function memoKey(args: readonly Value[]): unknown {
  const [first] = args;
  // Numbers that are written differently but equal share what was computed for the first of them, as in OPA.
  if (args.length === 1 && first !== undefined) return scalarKeyOf(first);
  let key = "";
  for (const arg of args) {
    const scalar = scalarKeyOf(arg);
    if (scalar === undefined) return undefined;
    key += typeof scalar === "string" ? `${JSON.stringify(scalar)},` : `${scalar},`;
  }
  return key;
}

function walk(value: Value | undefined, keys: readonly Value[]): Value | undefined {
  let current = value;
  for (const key of keys) {
    if (current === undefined) return undefined;
    current = lookup(current, key);
  }
  return current;
}

function mayMatch(pattern: readonly Term[], keys: readonly Value[]): boolean {
  for (let index = 0; index < Math.min(pattern.length, keys.length); index++) {
    const part = pattern[index];
    const key = keys[index];
    if (part?.kind === "scalar" && key !== undefined && compareValues(part.value, key) !== 0) return false;
  }
  return true;
}

/** The first one wins, except that objects are merged. */
function mergeDocuments(first: Value, second: Value): Value {
  if (!(first instanceof RegoObject) || !(second instanceof RegoObject)) return first;
  const merged = second.copy();
  for (const [key, value] of first.entries()) {
    const other = second.get(key);
    merged.set(key, other === undefined ? value : mergeDocuments(value, other));
  }
  return merged;
}

function isPrefix(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.every((name, index) => path[index] === name);
}

function isOverridden(path: readonly string[], overrides: readonly (readonly string[])[]): boolean {
  return overrides.some((override) => override.length <= path.length && isPrefix(override, path));
}

function conflict(group: RuleGroup, rule: CompiledRule): RegoError {
  if (group.kind === "function") {
    return new RegoError(
      "eval_conflict_error",
      "functions must not produce multiple outputs for same inputs",
      rule.loc,
    );
  }
  return new RegoError("eval_conflict_error", "complete rules must not produce multiple outputs", rule.loc);
}

function conflictIn(rule: CompiledRule): RegoError {
  const message =
    rule.head.args === undefined
      ? "complete rules must not produce multiple outputs"
      : "functions must not produce multiple outputs for same inputs";
  return new RegoError("eval_conflict_error", message, rule.loc);
}

export type { Frame };
