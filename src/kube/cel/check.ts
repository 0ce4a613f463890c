import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  qualifiedName,
  type SelectExpr,
} from "./ast.ts";
import type { FunctionDeclaration, Library, Overload } from "./declaration.ts";
import type { Issue } from "./issue.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  dynType,
  errorType,
  formatSignature,
  formatType,
  intType,
  isDyn,
  isDynOrError,
  isExactType,
  isOptional,
  listType,
  mapType,
  nullType,
  optionalType,
  paramType,
  stringType,
  typeType,
  uintType,
  unwrapOptional,
} from "./type.ts";
import { assign, assignAll, type Bindings, mostGeneral, substitute } from "./unify.ts";

/** What the checker found out about every node. */
export interface Checked {
  readonly types: ReadonlyMap<Expr, CelType>;
  readonly references: ReadonlyMap<Expr, Reference>;
  readonly issues: readonly Issue[];
}

export type Reference =
  | { readonly kind: "variable"; readonly name: string }
  /** The name of a type, used as a value. */
  | { readonly kind: "type"; readonly type: CelType }
  /** `isNamespaced`: the target of the call is part of the function's name. */
  | {
      readonly kind: "function";
      readonly name: string;
      readonly overloads: readonly Overload[];
      readonly isNamespaced: boolean;
    };

export interface Scope {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: Library;
  /** Types that an expression may name, such as `int` and `net.IP`. */
  readonly typeNames: ReadonlyMap<string, CelType>;
}

/** Gives every node a type, or says why there is none; the words are those of kube-apiserver. */
export function checkCel(expr: Expr, scope: Scope): Checked {
  const checker = new Checker(scope);
  checker.check(expr);
  const types = new Map([...checker.types].map(([node, type]) => [node, substitute(checker.bindings, type, true)]));
  return { types, references: checker.references, issues: checker.issues };
}

class Checker {
  readonly types = new Map<Expr, CelType>();
  readonly references = new Map<Expr, Reference>();
  readonly issues: Issue[] = [];
  bindings: Bindings = new Map();
  readonly #scope: Scope;
  readonly #locals: { readonly name: string; readonly type: CelType }[] = [];
  #freeParams = 0;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    this.types.set(expr, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case "literal":
        return literalType(expr.value);
      case "ident":
        return this.#name(expr, expr.name) ?? this.#undeclared(expr.at, expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#undeclared(expr.at, expr.name);
      case "comprehension":
        return this.#comprehension(expr);
    }
  }

  #name(expr: Expr, written: string): CelType | undefined {
    const name = written.replace(/^\./, "");
    const local = written.startsWith(".") ? undefined : this.#locals.findLast((variable) => variable.name === name);
    const variable = local?.type ?? this.#scope.variables.get(name);
    if (variable !== undefined) {
      this.references.set(expr, { kind: "variable", name });
      return variable;
    }
    const named = this.#scope.typeNames.get(name);
    if (named === undefined) return undefined;
    this.references.set(expr, { kind: "type", type: named });
    return typeType(named);
  }

  #select(expr: SelectExpr): CelType {
    const name = qualifiedName(expr);
    const named = name === undefined ? undefined : this.#name(expr, name);
    if (named !== undefined) return named;
    const type = this.#field(expr, expr.operand, expr.field, false);
    return expr.testOnly ? boolType : substitute(this.bindings, type, false);
  }

  #field(expr: Expr, operand: Expr, field: string, optional: boolean): CelType {
    const operandType = substitute(this.bindings, this.check(operand), false);
    const target = unwrapOptional(operandType);
    const result = this.#fieldType(expr, target, field);
    return optional || isOptional(operandType) ? optionalType(result) : result;
  }

  #fieldType(expr: Expr, target: CelType, field: string): CelType {
    if (target.kind === "map") return target.params[1] ?? dynType;
    if (target.kind === "object") {
      const type = target.fields?.get(field);
      if (type === undefined) this.#report(expr.at, `undefined field '${field}'`);
      return type ?? errorType;
    }
    if (target.kind === "param") this.#assign(dynType, target);
    else if (!isDynOrError(target)) {
      this.#report(expr.at, `type '${formatType(target)}' does not support field selection`);
    }
    return dynType;
  }

  #call(expr: CallExpr): CelType {
    if (expr.function === "_?._") return this.#optionalSelect(expr);
    const args = expr.args.map((arg) => this.check(arg));
    if (expr.target === undefined) {
      const name = expr.function.replace(/^\./, "");
      const declared = this.#scope.functions.get(name);
      if (declared === undefined) return this.#undeclared(expr.at, expr.function);
      return this.#resolve(expr, declared, args, false);
    }
    const prefix = qualifiedName(expr.target);
    const namespaced = prefix === undefined ? undefined : this.#scope.functions.get(`${prefix}.${expr.function}`);
    if (namespaced !== undefined) return this.#resolve(expr, namespaced, args, true);
    const target = this.check(expr.target);
    const declared = this.#scope.functions.get(expr.function);
    if (declared === undefined) return this.#undeclared(expr.at, expr.function);
    return this.#resolve(expr, declared, [target, ...args], false);
  }

  #optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args;
    const name = field?.kind === "literal" && typeof field.value === "string" ? field.value : "";
    const type = this.#field(expr, operand as Expr, name, true);
    if (field !== undefined) this.types.set(field, stringType);
    this.references.set(expr, { kind: "function", name: expr.function, overloads: [], isNamespaced: false });
    return substitute(this.bindings, type, false);
  }

  #resolve(expr: CallExpr, declared: FunctionDeclaration, args: readonly CelType[], isNamespaced: boolean): CelType {
    const isMember = expr.target !== undefined && !isNamespaced;
    if (declared.name === "_&&_" || declared.name === "_||_") return this.#logical(expr, declared, args);
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declared.overloads) {
      if (overload.isMember !== isMember) continue;
      const { params, result: overloadResult } = this.#instantiate(overload);
      const bindings = assignAll(this.bindings, args, params);
      if (bindings === undefined) continue;
      this.bindings = bindings;
      matching.push(overload);
      const type = substitute(bindings, overloadResult, false);
      if (result === undefined) result = type;
      else if (!isDyn(result) && !isExactType(result, type)) result = dynType;
    }
    if (result === undefined) {
      const actual = args.map((arg) => substitute(this.bindings, arg, true));
      const signature = formatSignature(actual, isMember);
      this.#report(expr.at, `found no matching overload for '${declared.name}' applied to '${signature}'`);
      return errorType;
    }
    this.references.set(expr, { kind: "function", name: declared.name, overloads: matching, isNamespaced });
    return result;
  }

  #logical(expr: CallExpr, declared: FunctionDeclaration, args: readonly CelType[]): CelType {
    let isValid = true;
    for (const [index, type] of args.entries()) {
      if (this.#assign(type, boolType)) continue;
      isValid = false;
      this.#mismatch((expr.args[index] as Expr).at, boolType, type);
    }
    if (!isValid) return errorType;
    this.references.set(expr, {
      kind: "function",
      name: declared.name,
      overloads: declared.overloads,
      isNamespaced: false,
    });
    return boolType;
  }

  /** Every use of an overload has type parameters of its own. */
  #instantiate(overload: Overload): Pick<Overload, "params" | "result"> {
    const fresh = new Map<string, CelType>();
    const rename = (type: CelType): CelType => {
      if (type.kind === "param") {
        const known = fresh.get(type.name) ?? this.#freeParam();
        fresh.set(type.name, known);
        return known;
      }
      return type.params.length === 0 ? type : { ...type, params: type.params.map(rename) };
    };
    return { params: overload.params.map(rename), result: rename(overload.result) };
  }

  #list(expr: ListExpr): CelType {
    let joined: CelType | undefined;
    for (const [index, element] of expr.elements.entries()) {
      let type = this.check(element);
      if (expr.optionals.has(index)) type = this.#unwrapElement(element, type);
      joined = this.#join(joined, type);
    }
    return listType(joined ?? this.#freeParam());
  }

  #map(expr: MapExpr): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const { key, value, optional } of expr.entries) {
      keys = this.#join(keys, this.check(key));
      let type = this.check(value);
      if (optional) type = this.#unwrapElement(value, type);
      values = this.#join(values, type);
    }
    return mapType(keys ?? this.#freeParam(), values ?? this.#freeParam());
  }

  #unwrapElement(expr: Expr, type: CelType): CelType {
    if (!isOptional(type) && !isDyn(type)) this.#mismatch(expr.at, optionalType(type), type);
    return unwrapOptional(type);
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    // What may be mixed and what not is decided once all types are known (literals.ts).
    return this.#assign(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  #comprehension(expr: ComprehensionExpr): CelType {
    const range = substitute(this.bindings, this.check(expr.range), false);
    const accumulator = this.check(expr.init);
    const depth = this.#locals.length;
    this.#locals.push({ name: expr.accumulator, type: accumulator });
    const [first, second] = this.#rangeTypes(expr, range);
    this.#locals.push({ name: expr.variable, type: first });
    if (expr.variable2 !== undefined) this.#locals.push({ name: expr.variable2, type: second });
    this.#expect(expr.condition, boolType);
    this.#expect(expr.step, accumulator);
    this.#locals.length = depth + 1;
    const result = this.check(expr.result);
    this.#locals.length = depth;
    return substitute(this.bindings, result, false);
  }

  #rangeTypes(expr: ComprehensionExpr, range: CelType): readonly [CelType, CelType] {
    const isDouble = expr.variable2 !== undefined;
    const [first = dynType, second = dynType] = range.params;
    if (range.kind === "list") return isDouble ? [intType, first] : [first, dynType];
    if (range.kind === "map") return [first, second];
    if (range.kind === "param" || isDynOrError(range)) {
      this.#assign(dynType, range);
      return [dynType, dynType];
    }
    this.#report(
      expr.range.at,
      `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
    return [errorType, errorType];
  }

  #expect(expr: Expr, type: CelType): void {
    const actual = this.check(expr);
    if (!this.#assign(type, actual)) this.#mismatch(expr.at, type, actual);
  }

  #assign(to: CelType, from: CelType): boolean {
    const bindings = assign(this.bindings, to, from);
    if (bindings === undefined) return false;
    this.bindings = bindings;
    return true;
  }

  #freeParam(): CelType {
    this.#freeParams += 1;
    return paramType(`_var${this.#freeParams - 1}`);
  }

  #mismatch(at: number, expected: CelType, actual: CelType): void {
    this.#report(at, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }

  #undeclared(at: number, name: string): CelType {
    this.#report(at, `undeclared reference to '${name}' (in container '')`);
    return errorType;
  }

  #report(at: number, message: string): void {
    this.issues.push({ at, message });
  }
}

function literalType(value: unknown): CelType {
  if (value === null) return nullType;
  switch (typeof value) {
    case "boolean":
      return boolType;
    case "bigint":
      return intType;
    case "number":
      return doubleType;
    case "string":
      return stringType;
    default:
      return value instanceof Uint8Array ? bytesType : uintType;
  }
}
