/** Unification of terms and types: gives variables their types, and tells when a term can never have a type. */
import { constantValue } from "../evaluate/terms.ts";
import type { Term } from "../syntax/ast.ts";
import { selectType, valuesOf } from "../types/select.ts";
import { anyType, isAny, isUnknown, type MaybeType, or } from "../types/types.ts";
import { mayUnify } from "../types/unify.ts";
import { equalValues } from "../values/compare.ts";
import type { TypeEnv } from "./type-env.ts";

export interface Typing {
  readonly env: TypeEnv;
  typeOf(term: Term, env: TypeEnv): MaybeType;
}

/** False if no value of the type can be the term; `adds` widens variables instead of comparing them. */
export function unifyTerm(term: Term, type: MaybeType, typing: Typing, adds = false): boolean {
  const { env } = typing;
  switch (term.kind) {
    case "var": {
      const known = env.variable(term);
      if (adds) env.put(term, or(known, type));
      else if (known !== undefined) return mayUnify(known, type);
      else env.put(term, type);
      return true;
    }
    case "array":
    case "object":
    case "set":
      return unifyComposite(term, type, typing, adds);
    default:
      return mayUnify(typing.typeOf(term, env), type);
  }
}

type Composite = Term & { readonly kind: "array" | "object" | "set" };

function unifyComposite(term: Composite, type: MaybeType, typing: Typing, adds: boolean): boolean {
  if (type?.kind === "any") {
    if (!isAny(type)) {
      // Every alternative tells something about the variables, also when an earlier one fits already.
      return type.of.map((each) => unifyTerm(term, each, typing, true)).some((fits) => fits);
    }
    for (const part of partsOf(term)) unifyTerm(part, anyType, typing, true);
    return true;
  }
  if (term.kind === "array" && type?.kind === "array") {
    if (term.items.length !== type.items.length && type.rest === undefined) return false;
    return term.items.every((item, index) =>
      unifyTerm(item, index < type.items.length ? type.items[index] : type.rest, typing, adds),
    );
  }
  if (term.kind === "set" && type?.kind === "set") {
    return term.items.every((item) => unifyTerm(item, valuesOf(type), typing, adds));
  }
  if (term.kind !== "object" || type?.kind !== "object") return false;
  if (term.entries.length !== type.fields.length && type.rest?.value === undefined) return false;
  return term.entries.every(([key, value]) => {
    const constant = constantValue(key);
    if (constant === undefined) {
      unifyTerm(value, anyType, typing, adds);
      return true;
    }
    const field = selectType(type, constant);
    return field !== undefined && unifyTerm(value, field, typing, adds);
  });
}

function partsOf(term: Composite): readonly Term[] {
  return term.kind === "object" ? term.entries.flat() : term.items;
}

/** Both sides of `=`: what is known of one side tells about the other. */
export function unifyTerms(left: Term, right: Term, typing: Typing): boolean {
  const [leftType, rightType] = [typing.typeOf(left, typing.env), typing.typeOf(right, typing.env)];
  const [leftOpen, rightOpen] = [isUnknown(leftType), isUnknown(rightType)];
  if (leftOpen && !rightOpen) return unifyTerm(left, rightType, typing);
  if (rightOpen && !leftOpen) return unifyTerm(right, leftType, typing);
  if (!leftOpen && !rightOpen) return mayUnify(leftType, rightType);
  if (left.kind === "array" || left.kind === "object") return unifyOpen(left, right, typing);
  if (left.kind === "var") {
    if (right.kind === "var") return unifyBoth(left, right, typing);
    if (right.kind === "array" || right.kind === "object") return unifyOpen(right, left, typing);
    if (leftType === undefined && rightType !== undefined) return unifyTerm(left, rightType, typing);
  }
  if (right.kind === "var" && rightType === undefined && leftType !== undefined) {
    return unifyTerm(right, leftType, typing);
  }
  return false;
}

function unifyBoth(first: Term, second: Term, typing: Typing): boolean {
  return unifyTerm(first, anyType, typing) && unifyTerm(second, typing.typeOf(first, typing.env), typing);
}

function unifyOpen(left: Term & { readonly kind: "array" | "object" }, right: Term, typing: Typing): boolean {
  if (right.kind === "var") return unifyBoth(left, right, typing);
  if (left.kind === "array" && right.kind === "array") {
    return (
      left.items.length === right.items.length &&
      left.items.every((item, index) => {
        const other = right.items[index];
        return other !== undefined && unifyTerms(item, other, typing);
      })
    );
  }
  if (left.kind !== "object" || right.kind !== "object" || left.entries.length !== right.entries.length) return false;
  const pairs = left.entries.map(
    ([key, value]) => [value, right.entries.find(([other]) => sameKey(key, other))?.[1]] as const,
  );
  return (
    pairs.every(([, other]) => other !== undefined) &&
    pairs.every(([value, other]) => other !== undefined && unifyTerms(value, other, typing))
  );
}

function sameKey(left: Term, right: Term): boolean {
  if (left.kind === "var" && right.kind === "var") return left.name === right.name;
  const [leftValue, rightValue] = [constantValue(left), constantValue(right)];
  return leftValue !== undefined && rightValue !== undefined && equalValues(leftValue, rightValue);
}
