/** Plans of single rules: those with a value, members of sets, and parts of documents with keys. */
import { equalValues } from "../values/compare.ts";
import { RegoSet, type Value } from "../values/value.ts";
import type { DocumentBuilder } from "./document-builder.ts";
import { planBody } from "./expressions.ts";
import { Bindings, type Bound, type Exec, type Matcher, type PlanContext, type Slots } from "./frame.ts";
import type { CompiledRule, RuleGroup } from "./program.ts";
import { startCheck, startsOnlyIfPossible } from "./rule-start.ts";
import { constantValue, planGetter, planMatcher } from "./terms.ts";

export interface RulePlan {
  readonly slots: Slots;
  readonly run: Exec;
  /** For observers, who are not to see rules that OPA's index would have left out. */
  readonly mayStart: () => boolean;
}

/** Slot 0 takes the value; the arguments of a function are in the slots after it. */
export function planValueRule(rule: CompiledRule, group: RuleGroup, context: PlanContext): RulePlan {
  const bound = new Bindings();
  const args = rule.head.args ?? [];
  const argSlots = args.map(() => context.slots.fresh());
  const matchers = args.map((arg) => planMatcher(arg, bound, context));
  const finish = (after: Bound): Exec => {
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
      else if (!equalValues(previous, next)) {
        const given = argSlots.map((slot) => frame[slot] ?? null);
        throw context.evaluator.conflict(group, given, rule, [previous, next]);
      }
      return false;
    };
  };
  const body = planBody(rule.body, bound, finish, context);
  return planned(rule, argSlots, matchers, body, context);
}

/** Slot 0 holds the set. */
export function planSetRule(rule: CompiledRule, context: PlanContext): RulePlan {
  const { machine } = context;
  const finish = (after: Bound): Exec => {
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
  };
  return planned(rule, [], [], planBody(rule.body, new Bindings(), finish, context), context);
}

/** The documents under construction, innermost last: plans are shared, so they cannot hold them. */
export const builders: DocumentBuilder[] = [];

/** The first `given` keys are bound from outside, in the slots after slot 0. */
export function planKeyedRule(rule: CompiledRule, given: number, context: PlanContext): RulePlan {
  const keySlots = rule.keys.slice(0, given).map(() => context.slots.fresh());
  const bound = new Bindings();
  const matchers = rule.keys.slice(0, given).map((key) => planMatcher(key, bound, context));
  const { machine } = context;
  const finish = (after: Bound): Exec => {
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
  };
  return planned(rule, keySlots, matchers, planBody(rule.body, bound, finish, context), context);
}

function planned(
  rule: CompiledRule,
  givenSlots: readonly number[],
  matchers: readonly Matcher[],
  body: Exec,
  { slots, machine, program }: PlanContext,
): RulePlan {
  const run: Exec =
    matchers.length === 0
      ? body
      : (frame) => {
          for (let index = 0; index < matchers.length; index++) {
            const value = frame[givenSlots[index] ?? 0];
            if (value === undefined || !matchers[index]?.(frame, value)) return false;
          }
          return body(frame);
        };
  return {
    slots,
    run: startsOnlyIfPossible(rule, machine, program, run),
    mayStart: startCheck(rule, machine, program),
  };
}
