import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  isBinding,
  type ListExpr,
  type MapExpr,
  type SelectExpr,
} from "./ast.ts";
import type { Checked } from "./check.ts";
import {
  add,
  fixed,
  listCost,
  mapCost,
  multiply,
  nothing,
  type Range,
  type Sized,
  union,
  unknownSize,
} from "./cost.ts";
import type { DeclaredType } from "./declared-type.ts";
import { type CelType, dynType, isOptional } from "./type.ts";
import { characterCount } from "./value.ts";

/** What an expression may cost at most, worked out from the sizes that schemas allow, before any object is seen. */
export function estimateCost(expr: Expr, checked: Checked, roots: ReadonlyMap<string, DeclaredType>): Range {
  return new Estimator(checked, roots).cost(expr);
}

/** Sizes of what a list or map holds. */
interface EntrySizes {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly name: string;
  readonly path: readonly string[];
  readonly size?: Range;
  readonly entries?: EntrySizes;
}

const selectCost = fixed(1);

class Estimator {
  readonly #checked: Checked;
  readonly #roots: ReadonlyMap<string, DeclaredType>;
  readonly #only: DeclaredType | undefined;
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Range>();
  readonly #entries = new Map<Expr, EntrySizes>();
  readonly #locals: Local[] = [];

  constructor(checked: Checked, roots: ReadonlyMap<string, DeclaredType>) {
    this.#checked = checked;
    this.#roots = roots;
    const declared = new Set(roots.values());
    this.#only = declared.size === 1 ? [...declared][0] : undefined;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "literal":
      case "struct":
        return nothing;
      case "ident":
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name]);
        return selectCost;
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "comprehension":
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr);
    }
  }

  #select(expr: SelectExpr): Range {
    if (this.#checked.references.get(expr)?.kind === "variable") return selectCost;
    const operand = this.cost(expr.operand);
    // Asking for presence costs nothing of its own.
    if (expr.testOnly) return operand;
    const { kind } = this.#typeOf(expr.operand);
    this.#paths.set(expr, this.#below(expr.operand, expr.field));
    return kind === "map" || kind === "object" || kind === "param" ? add(operand, selectCost) : operand;
  }

  #call(expr: CallExpr): Range {
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#sized(arg));
    if (expr.function === "dyn") {
      const [arg] = expr.args;
      if (arg !== undefined) this.#copySizes(expr, arg);
      return add(fixed(1), ...argCosts);
    }
    const reference = this.#checked.references.get(expr);
    if (reference?.kind !== "function") return nothing;
    const isMember = expr.target !== undefined && !reference.isNamespaced;
    const targetCost = isMember && expr.target ? this.cost(expr.target) : nothing;
    const target = isMember && expr.target ? this.#sized(expr.target) : undefined;
    const own = this.#ownCost(expr, reference.overloads, { ...(target && { target }), args }, argCosts);
    if (own.size !== undefined) this.#sizes.set(expr, own.size);
    return add(targetCost, own.cost);
  }

  #ownCost(
    expr: CallExpr,
    overloads: readonly {
      readonly id: string;
      readonly estimate?: (sizes: CallSizesOf) => { cost: Range; size?: Range } | undefined;
    }[],
    sizes: CallSizesOf,
    argCosts: readonly Range[],
  ): { readonly cost: Range; readonly size?: Range } {
    const [first = nothing, second = nothing, third = nothing] = argCosts;
    switch (expr.function) {
      case "_&&_":
      case "_||_":
        return { cost: { min: first.min, max: add(first, second).max } };
      case "_?_:_": {
        const [, whenTrue, whenFalse] = expr.args;
        const entries = unionEntries(this.#entriesOf(whenTrue), this.#entriesOf(whenFalse));
        if (entries !== undefined) this.#entries.set(expr, entries);
        const [, left, right] = sizes.args;
        const size = union(left?.size ?? unknownSize, right?.size ?? unknownSize);
        return { cost: add(first, union(second, third)), size };
      }
      case "_?._":
        return { cost: add(fixed(1), ...argCosts) };
    }
    let cost: Range | undefined;
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = overload.estimate?.(sizes) ?? { cost: fixed(1) };
      cost = cost === undefined ? estimate.cost : union(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      if (overload.id === "index_list" || overload.id === "index_map") {
        const [container] = expr.args;
        if (container === undefined) continue;
        size = this.#entriesOf(container)?.value;
        this.#paths.set(expr, this.#below(container, overload.id === "index_list" ? "@items" : "@values"));
      }
      if (overload.id.startsWith("add_")) {
        const entries = unionEntries(this.#entriesOf(expr.args[0]), this.#entriesOf(expr.args[1]));
        if (entries !== undefined) this.#entries.set(expr, entries);
      }
      size ??= this.#sizeOf(expr);
    }
    return { cost: add(cost ?? nothing, ...argCosts), ...(size && { size }) };
  }

  #list(expr: ListExpr): Range {
    let value: Range | undefined;
    let sum = fixed(listCost);
    for (const element of expr.elements) {
      sum = add(sum, this.cost(element));
      const size = this.#sizeOf(element) ?? unknownSize;
      value = value === undefined ? size : union(value, size);
    }
    this.#entries.set(expr, { container: "list", key: fixed(1), value: value ?? nothing });
    return sum;
  }

  #map(expr: MapExpr): Range {
    let [key, value]: (Range | undefined)[] = [];
    let sum = fixed(mapCost);
    for (const entry of expr.entries) {
      sum = add(sum, this.cost(entry.key), this.cost(entry.value));
      const keySize = this.#sizeOf(entry.key) ?? unknownSize;
      const valueSize = this.#sizeOf(entry.value) ?? unknownSize;
      key = key === undefined ? keySize : union(key, keySize);
      value = value === undefined ? valueSize : union(value, valueSize);
    }
    this.#entries.set(expr, { container: "map", key: key ?? nothing, value: value ?? nothing });
    return sum;
  }

  #comprehension(expr: ComprehensionExpr): Range {
    const rangeCost = this.cost(expr.range);
    const initCost = this.cost(expr.init);
    const depth = this.#locals.length;
    this.#pushAccumulator(expr);
    this.#pushVariables(expr);
    const each = add(this.cost(expr.condition), this.cost(expr.step));
    this.#locals.length = depth + 1;
    const resultCost = this.cost(expr.result);
    this.#locals.length = depth;
    const count = this.#sizeOf(expr.range) ?? unknownSize;
    if (expr.init.kind === "list" || expr.init.kind === "map") {
      this.#sizes.set(expr, count);
      const entries = this.#entries.get(expr.step);
      if (entries !== undefined) this.#entries.set(expr, entries);
    } else if (expr.init.kind === "literal") this.#sizes.set(expr, this.#sizeOf(expr.init) ?? fixed(1));
    return add(rangeCost, initCost, resultCost, multiply(count, each));
  }

  #binding(expr: ComprehensionExpr): Range {
    const cost = add(this.cost(expr.range), this.cost(expr.init));
    const depth = this.#locals.length;
    this.#pushAccumulator(expr);
    const result = this.cost(expr.result);
    this.#copySizes(expr, expr.result);
    this.#locals.length = depth;
    return add(cost, result);
  }

  #pushAccumulator({ accumulator, init }: ComprehensionExpr): void {
    const size = this.#sizeOf(init);
    const entries = this.#entriesOf(init);
    const path = this.#pathOf(init);
    this.#locals.push({ name: accumulator, path, ...(size && { size }), ...(entries && { entries }) });
  }

  #pushVariables({ variable, variable2, range }: ComprehensionExpr): void {
    const entries = this.#entriesOf(range);
    const kind = this.#typeOf(range).kind;
    const isList = (entries?.container ?? (kind === "list" ? "list" : "map")) === "list";
    const push = (name: string, part: string, size: Range | undefined): void => {
      this.#locals.push({ name, path: this.#below(range, part), ...(size && { size }) });
    };
    if (variable2 === undefined) {
      if (isList) push(variable, "@items", entries?.value);
      else push(variable, "@keys", entries?.key);
      return;
    }
    push(variable, isList ? "@indices" : "@keys", entries?.key);
    push(variable2, isList ? "@items" : "@values", entries?.value);
  }

  #sized(expr: Expr): Sized {
    const type = this.#typeOf(expr);
    const path = this.#pathOf(expr);
    const item = path.length === 0 ? undefined : this.#declaredSize([...path, "@items"]);
    return {
      type,
      size: this.#sizeOf(expr) ?? unknownSize,
      ...(type.kind === "list" && { item: item ?? unknownSize }),
      ...(expr.kind === "literal" && { literal: expr.value }),
    };
  }

  #sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr);
    if (known !== undefined) return known;
    const declared = this.#declaredSize(this.#pathOf(expr));
    if (declared !== undefined) {
      this.#sizes.set(expr, declared);
      return declared;
    }
    if (isScalar(this.#typeOf(expr))) return fixed(1);
    return expr.kind === "ident" ? this.#local(expr.name)?.size : undefined;
  }

  /** The size that the schema allows at a path such as `self`, `spec`, `@items`, `name`. */
  #declaredSize(path: readonly string[]): Range | undefined {
    const [root, ...rest] = path;
    // As on the real server, whatever name a path starts with, it is looked up in the one type that there is.
    let declared = root === undefined ? undefined : (this.#roots.get(root) ?? this.#only);
    for (const part of rest) {
      if (declared === undefined) return undefined;
      if (part === "@items" || part === "@values") declared = declared.element;
      else if (part === "@keys") declared = declared.key;
      else declared = declared.fields?.get(part);
    }
    return declared && { min: 0, max: declared.maxElements };
  }

  #entriesOf(expr: Expr | undefined): EntrySizes | undefined {
    if (expr === undefined) return undefined;
    return this.#entries.get(expr) ?? (expr.kind === "ident" ? this.#local(expr.name)?.entries : undefined);
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from);
    const entries = this.#entriesOf(from);
    if (size !== undefined) this.#sizes.set(to, size);
    if (entries !== undefined) this.#entries.set(to, entries);
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types.get(expr) ?? dynType;
  }

  #pathOf(expr: Expr): readonly string[] {
    if (expr.kind === "ident") return this.#local(expr.name)?.path ?? this.#paths.get(expr) ?? [];
    return this.#paths.get(expr) ?? [];
  }

  /** Nothing is below what has no path of its own. */
  #below(expr: Expr, part: string): readonly string[] {
    return [...this.#pathOf(expr), part];
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast((local) => local.name === name);
  }
}

interface CallSizesOf {
  readonly target?: Sized;
  readonly args: readonly Sized[];
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === "list") return fixed(expr.elements.length);
  if (expr.kind === "map") return fixed(expr.entries.length);
  if (expr.kind !== "literal") return undefined;
  const { value } = expr;
  if (typeof value === "string") return fixed(characterCount(value));
  return fixed(value instanceof Uint8Array ? value.length : 1);
}

const scalars: ReadonlySet<string> = new Set(["bool", "double", "duration", "int", "timestamp", "uint"]);

function isScalar(type: CelType): boolean {
  if (isOptional(type)) return type.params[0] !== undefined && isScalar(type.params[0]);
  return scalars.has(type.kind);
}

function unionEntries(left: EntrySizes | undefined, right: EntrySizes | undefined): EntrySizes | undefined {
  if (left === undefined || right === undefined) return undefined;
  return { container: left.container, key: union(left.key, right.key), value: union(left.value, right.value) };
}
