/**
 * How a plan runs: every expression is a closure that calls the next one for each way to satisfy it. The answer `true`
 * stops the search (somebody has seen enough), `false` asks for the next way. Variables live in slots of a frame;
 * which ones are bound at any point is known when planning, so nothing has to be undone.
 */
import type { CustomBuiltin } from "../compile/compile.ts";
import type { Expr, Rule } from "../syntax/ast.ts";
import type { Value } from "../values/value.ts";
import type { DeferredConflicts } from "./deferred-conflicts.ts";
import type { Machine } from "./machine.ts";
import type { CompiledRule, Program, RuleGroup } from "./program.ts";

export type Frame = (Value | undefined)[];
export type Exec = (frame: Frame) => boolean;
export type Consumer = (frame: Frame, value: Value) => boolean;
/** A value from bound variables. */
export type Getter = (frame: Frame) => Value | undefined;
/** Compares with bound variables, binds the others. */
export type Matcher = (frame: Frame, value: Value) => boolean;
/** The variables that have a value at some point of a plan. */
export interface Bound {
  has(name: string): boolean;
}

/** More bound variables on top of others; nothing is copied, so long bodies stay cheap to plan. */
export class Bindings implements Bound {
  readonly #parent: Bound | undefined;
  readonly #own = new Set<string>();

  constructor(parent?: Bound) {
    this.#parent = parent;
  }

  has(name: string): boolean {
    return this.#own.has(name) || (this.#parent?.has(name) ?? false);
  }

  add(name: string): void {
    this.#own.add(name);
  }
}

/** Sees every expression and rule as it is evaluated; plans without an observer have no cost for it. */
export interface Observer {
  readonly enterExpr?: (expr: Expr, frame: Frame, slots: Slots) => void;
  readonly failExpr?: (expr: Expr) => void;
  readonly enterRule?: (rule: Rule) => void;
  readonly exitRule?: (rule: Rule, value: Value) => void;
  readonly failRule?: (rule: Rule) => void;
}

export interface PlanContext {
  readonly machine: Machine;
  readonly program: Program;
  readonly slots: Slots;
  readonly observer: Observer | undefined;
  readonly evaluator: Evaluator;
  readonly customBuiltins: ReadonlyMap<string, CustomBuiltin> | undefined;
  /** Present when conflicts are raised in OPA's order. */
  readonly deferred: DeferredConflicts | undefined;
}

/** What plans of refs and calls need from the evaluation of rules. */
export interface Evaluator {
  groupValue(groupId: number): Value | undefined;
  groupPart(groupId: number, keys: readonly Value[]): Value | undefined;
  callFunction(groupId: number, args: readonly Value[]): Value | undefined;
  /** The document of a package: its rules and the base document merged. */
  extent(path: readonly string[]): Value | undefined;
  /** What to throw when a rule has a second value. */
  conflict(
    group: RuleGroup,
    args: readonly Value[] | undefined,
    rule: CompiledRule,
    values: readonly [Value, Value],
  ): Error;
}

/** Slot 0 holds the result of the rule or query. */
export class Slots {
  readonly #slots = new Map<string, number>();
  #count = 1;

  of(name: string): number {
    let slot = this.#slots.get(name);
    if (slot === undefined) {
      slot = this.#count++;
      this.#slots.set(name, slot);
    }
    return slot;
  }

  fresh(): number {
    return this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  entries(): Iterable<readonly [string, number]> {
    return this.#slots;
  }
}

export function newFrame(slots: Slots): Frame {
  return new Array(slots.count).fill(undefined);
}
