import { equalValues } from "../values/compare.ts";
import { canonicalText, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { conflictError, SecondValue } from "./conflicts.ts";
import { type DeferredConflicts, isConflict } from "./deferred-conflicts.ts";
import { DocumentBuilder } from "./document-builder.ts";
import { RegoError } from "./errors.ts";
import { type Evaluator, newFrame, type Observer, type PlanContext, Slots } from "./frame.ts";
import type { Machine } from "./machine.ts";
import type { CompiledRule, FunctionGroup, ObjectGroup, Program, RuleGroup, RuleNode } from "./program.ts";
import { findNode } from "./program.ts";
import { baseAt } from "./refs.ts";
import {
  fixedPlace,
  haveOneValue,
  isOverridden,
  isPrefix,
  mayMatch,
  memoEntry,
  memoKey,
  mergeDocuments,
  walk,
} from "./rule-documents.ts";
import { candidateRules, type RuleIndex } from "./rule-index.ts";
import { builders, planKeyedRule, planSetRule, planValueRule, type RulePlan } from "./rule-plans.ts";
import { constantValue } from "./terms.ts";
import { restore, save } from "./withs.ts";

export class RuleEvaluator implements Evaluator {
  readonly #machine: Machine;
  readonly #program: Program;
  readonly #observer: Observer | undefined;
  readonly #customBuiltins: PlanContext["customBuiltins"];
  readonly #deferred: DeferredConflicts | undefined;
  /** The group whose conflict is being described. */
  #described: RuleGroup | undefined;
  readonly #plans = new Map<CompiledRule, RulePlan>();
  readonly #keyedPlans = new Map<CompiledRule, (RulePlan | undefined)[]>();
  readonly #indexes: (RuleIndex | undefined)[] = [];
  readonly #agreements = new WeakMap<readonly CompiledRule[], boolean>();

  constructor(
    program: Program,
    machine: Machine,
    options: {
      readonly observer?: Observer | undefined;
      readonly customBuiltins?: PlanContext["customBuiltins"];
      readonly deferred?: DeferredConflicts;
    } = {},
  ) {
    this.#program = program;
    this.#customBuiltins = options.customBuiltins;
    this.#deferred = options.deferred;
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
      deferred: this.#deferred,
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
    const key = memoKey(args) ?? (this.#deferred === undefined ? undefined : canonicalText(args));
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
    if (group !== undefined) {
      if (group.kind === "function") return undefined;
      const value = this.groupValue(group.id);
      const conflict = this.#deferred?.take();
      if (conflict !== undefined) throw conflict;
      return value;
    }
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
    if (this.#deferred !== undefined) return this.#singleInOrder(group, args, this.#deferred);
    let result: Value | undefined;
    const candidates = this.#candidates(group, args);
    for (const rule of candidates) {
      const value = this.#runBranches(group, rule, args);
      if (value === undefined) continue;
      if (result !== undefined) {
        if (!equalValues(result, value)) throw this.conflict(group, args, rule, [result, value]);
        continue;
      }
      result = value;
      if (this.#agree(candidates)) return result;
    }
    if (result !== undefined) return result;
    const { defaultRule } = group;
    return defaultRule === undefined ? undefined : this.#run(group, defaultRule, args);
  }

  /** The first value; a conflict that comes after it waits for whoever takes the value. */
  #singleInOrder(group: RuleGroup, args: readonly Value[] | undefined, deferred: DeferredConflicts): Value | undefined {
    const { depth } = this.#machine;
    const saved = save(this.#machine);
    const building = builders.length;
    let result: Value | undefined;
    const keep = (value: Value): void => {
      result ??= value;
    };
    try {
      const candidates = this.#candidates(group, args);
      for (const rule of candidates) {
        const value = this.#runBranches(group, rule, args, keep);
        if (value !== undefined && result !== undefined && !equalValues(result, value)) {
          throw this.conflict(group, args, rule, [result, value]);
        }
        if (result !== undefined && this.#agree(candidates)) return result;
      }
    } catch (error) {
      if (result === undefined || !isConflict(error)) throw error;
      this.#machine.depth = depth;
      restore(this.#machine, saved);
      builders.length = building;
      deferred.defer(error);
    }
    if (result !== undefined) return result;
    return group.defaultRule === undefined ? undefined : this.#run(group, group.defaultRule, args);
  }

  conflict(
    group: RuleGroup,
    args: readonly Value[] | undefined,
    rule: CompiledRule,
    values: readonly [Value, Value],
  ): Error {
    if (this.#described === group) return new SecondValue(values);
    const machine = this.#machine;
    const { strictBuiltinErrors, builtinErrors } = machine;
    const outer = this.#described;
    this.#described = group;
    machine.strictBuiltinErrors = false;
    machine.builtinErrors = [];
    const error = conflictError(group, rule, this.#candidates(group, args), (each) =>
      this.#valuesOf(group, each, args),
    );
    this.#described = outer;
    machine.strictBuiltinErrors = strictBuiltinErrors;
    machine.builtinErrors = builtinErrors;
    return error;
  }

  #valuesOf(group: RuleGroup, rule: CompiledRule, args: readonly Value[] | undefined): readonly Value[] | undefined {
    try {
      const value = this.#run(group, rule, args);
      return value === undefined ? [] : [value];
    } catch (error) {
      if (error instanceof SecondValue) return error.values;
      if (error instanceof RegoError) return undefined;
      throw error;
    }
  }

  /** Rules with one and the same constant: when the first of them holds, OPA does not look at the others. */
  #agree(rules: readonly CompiledRule[]): boolean {
    let isKnown = this.#agreements.get(rules);
    if (isKnown === undefined) {
      isKnown = haveOneValue(rules);
      this.#agreements.set(rules, isKnown);
    }
    return isKnown;
  }

  #candidates(group: RuleGroup, args: readonly Value[] | undefined): readonly CompiledRule[] {
    if (group.rules.length < 2) return group.rules;
    return candidateRules(group, this.#indexes, this.#machine, args);
  }

  /** `keep` learns the first value of a rule even if the rule goes on to an error. */
  #runBranches(
    group: RuleGroup,
    rule: CompiledRule,
    args: readonly Value[] | undefined,
    keep?: (value: Value) => void,
  ): Value | undefined {
    for (let branch: CompiledRule | undefined = rule; branch !== undefined; branch = branch.elseRule) {
      const value = this.#run(group, branch, args, keep);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #run(
    group: RuleGroup,
    rule: CompiledRule,
    args: readonly Value[] | undefined,
    keep?: (value: Value) => void,
  ): Value | undefined {
    const plan = this.#plan(rule, group);
    const frame = newFrame(plan.slots);
    const observer = this.#observer;
    if (observer !== undefined) {
      if (!plan.mayStart()) return undefined;
      observer.enterRule?.(rule.source);
    }
    if (args !== undefined) for (let index = 0; index < args.length; index++) frame[index + 1] = args[index];
    if (keep === undefined) plan.run(frame);
    else {
      try {
        plan.run(frame);
      } finally {
        if (frame[0] !== undefined) keep(frame[0]);
      }
    }
    const value = frame[0];
    if (observer !== undefined) {
      if (value === undefined) observer.failRule?.(rule.source);
      else observer.exitRule?.(rule.source, value);
    }
    return value;
  }

  #plan(rule: CompiledRule, group: RuleGroup): RulePlan {
    let plan = this.#plans.get(rule);
    if (plan === undefined) {
      plan = planValueRule(rule, group, this.context(new Slots()));
      this.#plans.set(rule, plan);
    }
    return plan;
  }

  #computeSet(group: RuleGroup): Value {
    const set = new RegoSet();
    for (const rule of this.#candidates(group, undefined)) {
      const plan = this.#setPlan(rule);
      const frame = newFrame(plan.slots);
      frame[0] = set;
      if (this.#observer !== undefined) {
        if (!plan.mayStart()) continue;
        this.#observer.enterRule?.(rule.source);
      }
      const before = set.size;
      plan.run(frame);
      if (set.size > before) this.#observer?.exitRule?.(rule.source, set);
    }
    return set;
  }

  #setPlan(rule: CompiledRule): RulePlan {
    let plan = this.#plans.get(rule);
    if (plan === undefined) {
      plan = planSetRule(rule, this.context(new Slots()));
      this.#plans.set(rule, plan);
    }
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
      // Objects with a fixed place exist even without fields.
      const place = rule.keys.length > 1 ? fixedPlace(rule.keys) : [];
      if (place.length > 0 && mayMatch(rule.keys, keys) && walk(builder.root, place) === undefined)
        builder.open(place, rule);
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
    const plan = plans[given] ?? planKeyedRule(rule, given, this.context(new Slots()));
    plans[given] = plan;
    const frame = newFrame(plan.slots);
    for (let index = 0; index < given; index++) frame[index + 1] = keys[index];
    if (this.#observer !== undefined) {
      if (!plan.mayStart()) return;
      this.#observer.enterRule?.(rule.source);
    }
    builders.push(builder);
    const before = builder.insertions;
    plan.run(frame);
    builders.pop();
    if (builder.insertions > before) this.#observer?.exitRule?.(rule.source, builder.root);
  }
}
