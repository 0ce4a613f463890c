import { compilePattern } from "../schema/pattern.ts";
import { accepts } from "./accepts.ts";
import { fieldOf, hasField, indexOf, optionalIndexOf } from "./access.ts";
import { type CallExpr, type ComprehensionExpr, type Expr, isBinding, type LiteralValue } from "./ast.ts";
import type { Checked } from "./check.ts";
import { listCost, mapCost } from "./cost.ts";
import type { Run } from "./run.ts";
import { isOptional } from "./type.ts";
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  type CelValue,
  keyIdentity,
  MemoryMap,
  noSuchOverload,
  Optional,
  TypeValue,
  Uint,
} from "./value.ts";
import { resultWork, textWork } from "./work.ts";

/** A part of the expression that is written out has no value: `int("x")`. */
export class ConstantError extends Error {}

export type Step = (run: Run) => CelValue;

/** Turns a checked expression into functions that call each other. */
export function compileSteps(expr: Expr, checked: Checked): Step {
  return new Compiler(checked).compile(expr);
}

class Compiler {
  readonly #checked: Checked;
  /** Names of local variables; their place here is their place in a run. */
  readonly #locals: string[] = [];

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  compile(expr: Expr): Step {
    const constant = this.#constant(expr);
    if (constant instanceof CelError) throw new ConstantError(constant.message);
    if (constant instanceof CelList) {
      const items = [...constant];
      // Every run gets a list of its own, because lists may grow in place.
      return () => new ArrayList([...items]);
    }
    if (constant !== undefined) return () => constant;
    switch (expr.kind) {
      case "literal":
        return () => noSuchOverload;
      case "ident":
        return this.#name(expr, expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return () => noSuchOverload;
      case "comprehension":
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr);
    }
  }

  /** What is written out completely is worked out once, and costs nothing later. */
  #constant(expr: Expr): CelValue | undefined {
    if (expr.kind === "literal") return literalToCel(expr.value);
    if (expr.kind === "list") return expr.optionals.size > 0 ? undefined : this.#constantList(expr.elements);
    if (expr.kind === "map") return this.#constantMap(expr);
    if (expr.kind !== "call" || expr.target !== undefined || !conversionNames.has(expr.function)) return undefined;
    const [arg] = expr.args;
    const value = arg && this.#constant(arg);
    const reference = this.#checked.references.get(expr);
    if (value === undefined || reference?.kind !== "function") return undefined;
    return reference.overloads.find((overload) => accepts(overload, [value]))?.call?.(value);
  }

  #constantList(elements: readonly Expr[]): CelValue | undefined {
    const items: CelValue[] = [];
    for (const element of elements) {
      const item = this.#constant(element);
      if (item === undefined || item instanceof CelError) return item;
      items.push(item);
    }
    return new ArrayList(items);
  }

  #constantMap(expr: Extract<Expr, { kind: "map" }>): CelValue | undefined {
    const entries: (readonly [CelValue, CelValue])[] = [];
    for (const { key, value, optional } of expr.entries) {
      const [name, member] = [this.#constant(key), this.#constant(value)];
      if (optional || name === undefined || member === undefined) return undefined;
      if (name instanceof CelError) return name;
      if (member instanceof CelError) return member;
      entries.push([name, member]);
    }
    return mapOf(entries);
  }

  #name(expr: Expr, written: string): Step {
    const reference = this.#checked.references.get(expr);
    if (reference?.kind === "type") {
      const value = new TypeValue(reference.type);
      return () => value;
    }
    const name = written.replace(/^\./, "");
    const place = written.startsWith(".") ? -1 : this.#locals.lastIndexOf(name);
    if (place >= 0) {
      return (run) => {
        run.spend(1);
        return run.locals[place] ?? null;
      };
    }
    const missing = new CelError(`no such attribute(s): ${name}`);
    return (run) => {
      run.spend(1);
      const value = run.variable(name);
      return value === undefined ? missing : value;
    };
  }

  #select(expr: Extract<Expr, { kind: "select" }>): Step {
    const reference = this.#checked.references.get(expr);
    if (reference?.kind === "variable") return this.#name(expr, reference.name);
    if (reference?.kind === "type") return this.#name(expr, "");
    const operand = this.compile(expr.operand);
    const { field } = expr;
    if (expr.testOnly) return (run) => hasField(operand(run), field);
    const cost = isAttribute(expr.operand) ? 1 : 2;
    return (run) => {
      const value = operand(run);
      run.spend(cost);
      return fieldOf(value, field);
    };
  }

  #call(expr: CallExpr): Step {
    const { args } = expr;
    const [first, second, third] = args;
    switch (expr.function) {
      case "_&&_":
        return this.#logical(first as Expr, second as Expr, false);
      case "_||_":
        return this.#logical(first as Expr, second as Expr, true);
      case "_?_:_":
        return this.#conditional(first as Expr, second as Expr, third as Expr);
      case "@not_strictly_false":
        return this.#notStrictlyFalse(first as Expr);
      case "_[_]":
        return this.#access(first as Expr, second as Expr, indexOf);
      case "_[?_]":
        return this.#access(first as Expr, second as Expr, optionalIndexOf);
      case "_?._":
        return this.#access(first as Expr, second as Expr, optionalIndexOf);
      case "or":
      case "orValue":
        if (expr.target !== undefined && this.#isOptionalOr(expr)) return this.#or(expr);
    }
    return this.#function(expr);
  }

  #logical(left: Expr, right: Expr, decisive: boolean): Step {
    const [first, second] = [this.compile(left), this.compile(right)];
    return (run) => {
      const a = first(run);
      if (a === decisive) return decisive;
      const b = second(run);
      if (b === decisive) return decisive;
      // Either side may decide alone; only when neither does, an error counts.
      if (a instanceof CelError) return a;
      if (b instanceof CelError) return b;
      return typeof a === "boolean" && typeof b === "boolean" ? !decisive : noSuchOverload;
    };
  }

  #conditional(condition: Expr, whenTrue: Expr, whenFalse: Expr): Step {
    const [test, yes, no] = [this.compile(condition), this.compile(whenTrue), this.compile(whenFalse)];
    return (run) => {
      const value = test(run);
      // The real server does not count the name that a branch starts with.
      if (value === true) return counted(run, whenTrue, yes);
      if (value === false) return counted(run, whenFalse, no);
      return value instanceof CelError ? value : noSuchOverload;
    };
  }

  #notStrictlyFalse(expr: Expr): Step {
    const operand = this.compile(expr);
    return (run) => {
      const value = operand(run);
      run.spend(1);
      return value !== false;
    };
  }

  #access(operand: Expr, index: Expr, read: (value: CelValue, key: CelValue) => CelValue): Step {
    const [container, key] = [this.compile(operand), this.compile(index)];
    const cost = isAttribute(operand) ? 1 : 2;
    return (run) => {
      const value = container(run);
      const at = counted(run, index, key);
      run.spend(cost);
      if (value instanceof CelError) return value;
      return at instanceof CelError ? at : read(value, at);
    };
  }

  #isOptionalOr(expr: CallExpr): boolean {
    const type = expr.target && this.#checked.types.get(expr.target);
    return type !== undefined && (isOptional(type) || type.kind === "dyn");
  }

  #or(expr: CallExpr): Step {
    const [target, other] = [this.compile(expr.target as Expr), this.compile(expr.args[0] as Expr)];
    const unwraps = expr.function === "orValue";
    return (run) => {
      const value = target(run);
      if (value instanceof CelError) return value;
      if (!(value instanceof Optional)) return noSuchOverload;
      if (value.value === undefined) return other(run);
      return unwraps ? value.value : value;
    };
  }

  #function(expr: CallExpr): Step {
    const reference = this.#checked.references.get(expr);
    if (reference?.kind !== "function") return () => noSuchOverload;
    const isMember = expr.target !== undefined && !reference.isNamespaced;
    const steps = [...(isMember && expr.target ? [expr.target] : []), ...expr.args].map((arg) => this.compile(arg));
    const { overloads } = reference;
    checkPattern(expr);
    // Looking something up in a list that is written out takes no time.
    const isFree =
      reference.name === "@in" && expr.args[1] !== undefined && this.#constant(expr.args[1]) instanceof CelList;
    return (run) => {
      const values: CelValue[] = [];
      let error: CelError | undefined;
      for (const step of steps) {
        const value = step(run);
        if (value instanceof CelError) error ??= value;
        values.push(value);
      }
      if (error !== undefined) {
        run.spend(1);
        return error;
      }
      const overload = overloads.find((candidate) => accepts(candidate, values));
      if (overload?.call === undefined) {
        run.spend(1);
        return isOperator(reference.name) ? noSuchOverload : new CelError(`no such overload: ${reference.name}`);
      }
      run.spend(isFree ? 0 : overload.cost ? overload.cost(values) : 1);
      run.toil(overload.work ? overload.work(values) : textWork(values));
      const result = overload.call(...values);
      if (!overload.isGrowing) run.toil(resultWork(result));
      if (overload.resultCost) run.spend(overload.resultCost(values, result));
      return result;
    };
  }

  #list(expr: Extract<Expr, { kind: "list" }>): Step {
    const steps = expr.elements.map((element) => this.compile(element));
    return (run) => {
      const items: CelValue[] = [];
      for (const [index, step] of steps.entries()) {
        const value = step(run);
        if (value instanceof CelError) return value;
        if (!expr.optionals.has(index)) items.push(value);
        else if (!(value instanceof Optional))
          return new CelError("cannot initialize optional list element from non-optional value");
        else if (value.value !== undefined) items.push(value.value);
      }
      run.spend(listCost);
      return new ArrayList(items);
    };
  }

  #map(expr: Extract<Expr, { kind: "map" }>): Step {
    const steps = expr.entries.map(({ key, value, optional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      optional,
    }));
    return (run) => {
      const entries: (readonly [CelValue, CelValue])[] = [];
      for (const { key, value, optional } of steps) {
        const [name, given] = [key(run), value(run)];
        if (name instanceof CelError) return name;
        if (given instanceof CelError) return given;
        if (optional && !(given instanceof Optional))
          return new CelError("cannot initialize optional entry from non-optional value");
        const member = optional ? (given as Optional).value : given;
        if (member !== undefined) entries.push([name, member]);
      }
      run.spend(mapCost);
      return mapOf(entries);
    };
  }

  #comprehension(expr: ComprehensionExpr): Step {
    const range = this.compile(expr.range);
    const init = this.compile(expr.init);
    const accumulator = this.#locals.push(expr.accumulator) - 1;
    const variable = this.#locals.push(expr.variable) - 1;
    const variable2 = expr.variable2 === undefined ? undefined : this.#locals.push(expr.variable2) - 1;
    const condition = this.compile(expr.condition);
    const step = this.compile(expr.step);
    this.#locals.length = accumulator + 1;
    const result = this.compile(expr.result);
    this.#locals.length = accumulator;
    return (run) => {
      const items = range(run);
      if (items instanceof CelError) return items;
      if (!(items instanceof CelList) && !(items instanceof CelMap)) return noSuchOverload;
      run.locals[accumulator] = init(run);
      for (const [first, second] of pairsOf(items, variable2 !== undefined)) {
        run.locals[variable] = first;
        if (variable2 !== undefined) run.locals[variable2] = second;
        const goesOn = condition(run);
        if (goesOn === false) break;
        const next = step(run);
        run.locals[accumulator] = next;
        if (next instanceof CelError && expr.condition.kind === "literal") break;
      }
      return result(run);
    };
  }

  #binding(expr: ComprehensionExpr): Step {
    const init = this.compile(expr.init);
    const place = this.#locals.push(expr.accumulator) - 1;
    const result = this.compile(expr.result);
    this.#locals.length = place;
    return (run) => {
      run.locals[place] = init(run);
      return result(run);
    };
  }
}

/** Conversions of what is written out are carried out before the expression ever runs. */
const conversionNames: ReadonlySet<string> = new Set(
  "bool bytes double duration dyn int string timestamp type uint".split(" "),
);

function counted(run: Run, expr: Expr, step: Step): CelValue {
  if (isAttribute(expr)) run.spend(-1);
  return step(run);
}

/** A later entry replaces an earlier one with the same key. */
function mapOf(entries: readonly (readonly [CelValue, CelValue])[]): CelValue {
  const byIdentity = new Map<string, { key: CelValue; value: CelValue; position: number }>();
  for (const [key, value] of entries) {
    const identity = keyIdentity(key);
    if (identity === undefined) return new CelError("unsupported key type");
    byIdentity.set(identity, { key, value, position: byIdentity.get(identity)?.position ?? byIdentity.size });
  }
  return new MemoryMap(byIdentity);
}

function checkPattern({ function: name, args: [pattern] }: CallExpr): void {
  if ((name !== "find" && name !== "findAll") || pattern?.kind !== "literal" || typeof pattern.value !== "string")
    return;
  const compiled = compilePattern(pattern.value);
  if (!compiled.ok) throw new ConstantError(compiled.message);
}

const attributeCalls: ReadonlySet<string> = new Set(["_[_]", "_[?_]", "_?._", "_?_:_"]);

const isOperator = (name: string): boolean => /[_@]/.test(name);

const isAttribute = (expr: Expr): boolean =>
  expr.kind === "ident" ||
  (expr.kind === "select" && !expr.testOnly) ||
  (expr.kind === "call" && attributeCalls.has(expr.function));

export function literalToCel(value: LiteralValue): CelValue {
  if (typeof value === "object" && value !== null && "uint" in value) return new Uint(value.uint);
  return value;
}

function* pairsOf(items: CelList | CelMap, withSecond: boolean): Iterable<readonly [CelValue, CelValue]> {
  if (items instanceof CelList) {
    for (let index = 0; index < items.length; index += 1) {
      yield withSecond ? [BigInt(index), items.at(index)] : [items.at(index), null];
    }
    return;
  }
  for (const key of items.keys()) yield [key, withSecond ? (items.find(key) ?? null) : null];
}
