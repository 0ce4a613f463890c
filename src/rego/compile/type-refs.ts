/** Refs that lead nowhere: into scalars, to fields that a document cannot have, to functions that are not called. */
import { constantValue } from "../evaluate/terms.ts";
import type { Expr, RefTerm, Term } from "../syntax/ast.ts";
import { refOf } from "../syntax/ast.ts";
import { formatType } from "../types/format.ts";
import { keysOf, selectType, valuesOf } from "../types/select.ts";
import { anyType, type MaybeType } from "../types/types.ts";
import { mayUnify } from "../types/unify.ts";
import { formatValue } from "../values/format.ts";
import type { Value } from "../values/value.ts";
import { isRootDocument, type TypeEnv } from "./type-env.ts";
import type { TypeFault } from "./type-faults.ts";
import { childOf, extentOf, type TypeNode } from "./type-tree.ts";
import { type Typing, unifyTerm } from "./type-unify.ts";

export class RefChecker {
  readonly faults: TypeFault[] = [];
  readonly #typing: Typing;
  readonly #show: (ref: RefTerm) => string;

  constructor(typing: Typing, show: (ref: RefTerm) => string) {
    this.#typing = typing;
    this.#show = show;
  }

  /** Every ref of an expression; comprehensions are bodies of their own. */
  expression(expr: Expr): void {
    switch (expr.kind) {
      case "expr-call":
        for (const arg of expr.args) this.#term(arg);
        return;
      case "expr-term":
        this.#term(expr.term);
        return;
      case "expr-not":
        for (const inner of expr.body) this.expression(inner);
        return;
      case "expr-every":
        this.#term(expr.domain);
        for (const inner of expr.body) this.expression(inner);
        break;
      case "expr-and":
      case "expr-or":
        for (const inner of [...expr.left, ...expr.right]) this.expression(inner);
        break;
      default:
        return;
    }
    for (const modifier of expr.withs) {
      this.#term(modifier.target);
      this.#term(modifier.value);
    }
  }

  #term(term: Term): void {
    switch (term.kind) {
      case "ref": {
        if (this.#isFunction(term)) return;
        const fault = this.#along(this.#typing.env, this.#typing.env.tree, term, 0);
        if (fault !== undefined) this.faults.push(fault);
        for (const part of term.parts) this.#term(part);
        return;
      }
      case "array":
      case "set":
        for (const item of term.items) this.#term(item);
        return;
      case "object":
        for (const part of term.entries.flat()) this.#term(part);
        return;
      default:
        return;
    }
  }

  #isFunction(ref: RefTerm): boolean {
    const type = this.#typing.env.ref(ref);
    if (type?.kind !== "function") return false;
    const shown = this.#show(ref);
    this.faults.push({
      loc: ref.loc,
      message: `function ${shown} used as reference, not called`,
      details: [shown, "^".repeat(shown.length), `have: ${formatType(type)}`],
      isUnknown: false,
    });
    return true;
  }

  #along(env: TypeEnv, node: TypeNode, ref: RefTerm, index: number): TypeFault | undefined {
    const part = ref.parts[index];
    if (part === undefined) return undefined;
    // The first names below `data` are names of packages and rules.
    if ((index === 1 || index === 2) && part.kind !== "var" && typeof constantValue(part) !== "string") {
      return this.#invalid(ref, index, this.#typing.typeOf(part, this.#typing.env), { kind: "string" }, namesOf(node));
    }
    if (part.kind === "var" && index > 0) {
      const keys = keysOf(extentOf(node));
      const known = this.#typing.env.variable(part);
      if (known === undefined) this.#typing.env.put(part, keys);
      else if (!mayUnify(keys, known)) return this.#invalid(ref, index, known, keys, namesOf(node));
    }
    const child = childOf(node, part);
    if (child !== undefined) {
      return child.value === undefined
        ? this.#along(env, child, ref, index + 1)
        : this.#inside(child.value, ref, index + 1);
    }
    // This environment says nothing about the ref: the one around it is asked from the start.
    if (env.next !== undefined) return this.#along(env.next, env.next.tree, ref, 0);
    const [head] = ref.parts;
    if (head === undefined || !isRootDocument(head)) return this.#inside(anyType, ref, 0);
    if (index === 0) return this.#inside(anyType, ref, 1);
    for (const each of node.children.values()) this.#along(env, each, ref, index + 1);
    return undefined;
  }

  #inside(type: MaybeType, ref: RefTerm, index: number): TypeFault | undefined {
    const part = ref.parts[index];
    if (part === undefined) return undefined;
    if (isEmptyCollection(type)) return this.#invalid(ref, index, undefined, undefined, []);
    const keys = keysOf(type);
    if (keys === undefined) return this.#unsupported(ref, index - 1, type);
    const { env } = this.#typing;
    if (part.kind === "var") {
      const known = env.variable(part);
      if (known === undefined) env.put(part, keys);
      else if (!mayUnify(known, keys)) return this.#invalid(ref, index, known, keys, fieldsOf(type));
    } else if (part.kind === "ref") {
      const known = env.ref(part);
      if (known !== undefined && !mayUnify(known, keys)) return this.#invalid(ref, index, known, keys, fieldsOf(type));
    } else if (part.kind === "scalar") {
      const field = selectType(type, part.value);
      if (field === undefined) return this.#invalid(ref, index, undefined, keys, fieldsOf(type));
      return this.#inside(field, ref, index + 1);
    } else if (!unifyTerm(part, keys, this.#typing)) {
      return this.#invalid(ref, index, this.#typing.typeOf(part, env), keys, []);
    }
    return this.#inside(valuesOf(type), ref, index + 1);
  }

  #invalid(ref: RefTerm, index: number, have: MaybeType, want: MaybeType, oneOf: readonly Value[]): TypeFault {
    const pad = " ".repeat(this.#show(refOf(ref.parts.slice(0, index), ref.loc)).length + 1);
    const part = ref.parts[index];
    const shown = part === undefined ? "" : this.#show(refOf([part], ref.loc));
    const wanted =
      oneOf.length > 0 || want === undefined
        ? `want (one of): [${oneOf.map(formatValue).join(" ")}]`
        : `want (type): ${formatType(want)}`;
    return {
      loc: ref.loc,
      message: `undefined ref: ${this.#show(ref)}`,
      details: [
        this.#show(ref),
        `${pad}^`,
        `${pad}${have === undefined ? `have: ${shown}` : `have (type): ${formatType(have)}`}`,
        `${pad}${wanted}`,
      ],
      isUnknown: false,
    };
  }

  #unsupported(ref: RefTerm, index: number, have: MaybeType): TypeFault {
    const known = this.#show(refOf(ref.parts.slice(0, index + 1), ref.loc));
    const shown = this.#show(ref);
    return {
      loc: ref.loc,
      message:
        have?.kind === "function" ? `function ${shown} used as reference, not called` : `undefined ref: ${shown}`,
      details: [shown, "^".repeat(known.length), `have: ${have === undefined ? "<nil>" : formatType(have)}`],
      isUnknown: false,
    };
  }
}

function isEmptyCollection(type: MaybeType): boolean {
  if (type?.kind === "object") return type.fields.length === 0 && type.rest === undefined;
  if (type?.kind === "array") return type.items.length === 0 && type.rest === undefined;
  return type?.kind === "set" && type.item === undefined;
}

function namesOf(node: TypeNode): readonly Value[] {
  const names = [...node.children.values()].map(({ part }) => (part === undefined ? undefined : constantValue(part)));
  return names.filter((name) => name !== undefined);
}

function fieldsOf(type: MaybeType): readonly Value[] {
  if (type?.kind === "object") return type.fields.map(([key]) => key);
  return type?.kind === "any" ? type.of.flatMap(fieldsOf) : [];
}
