/** Types of calls: operands that a function can never accept, members that a collection cannot have. */
import type { Expr, Term } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { printRef } from "../syntax/print.ts";
import { keysOf, valuesOf } from "../types/select.ts";
import { isAny, isUnknown, type MaybeType } from "../types/types.ts";
import { mayUnify } from "../types/unify.ts";
import { argumentFault, matchFault, type TypeFault } from "./type-faults.ts";
import { type Typing, unifyTerm, unifyTerms } from "./type-unify.ts";

type Call = Expr & { readonly kind: "expr-call" };

export function checkCallTypes(expr: Call, typing: Typing): TypeFault | undefined {
  const name = operatorName(expr.operator);
  const [left, right] = expr.args;
  if (name === "eq" && left !== undefined && right !== undefined) {
    const [leftType, rightType] = [typing.typeOf(left, typing.env), typing.typeOf(right, typing.env)];
    return unifyTerms(left, right, typing) ? undefined : matchFault(expr.loc, leftType, rightType);
  }
  const isMember = name === "internal.member_2" || name === "internal.member_3";
  return (isMember ? memberFault(expr, name === "internal.member_3", typing) : undefined) ?? operandFault(expr, typing);
}

/** The operands of `in` may be anything; what can be found depends on the collection. */
function memberFault(expr: Call, hasKey: boolean, typing: Typing): TypeFault | undefined {
  const collection = expr.args[hasKey ? 2 : 1];
  const type = collection === undefined ? undefined : typing.typeOf(collection, typing.env);
  const values = valuesOf(type);
  if (values === undefined) return undefined;
  const [first, second] = expr.args;
  const key = hasKey && first !== undefined ? memberOperandFault(expr, first, keysOf(type), typing) : undefined;
  const value = hasKey ? second : first;
  return key ?? (value === undefined ? undefined : memberOperandFault(expr, value, values, typing));
}

function memberOperandFault(expr: Call, term: Term, type: MaybeType, typing: Typing): TypeFault | undefined {
  if (isUnknown(type)) return undefined;
  const have = typing.typeOf(term, typing.env);
  if ((isUnknown(have) || mayUnify(have, type)) && unifyTerm(term, type, typing)) return undefined;
  return matchFault(expr.loc, have, type);
}

function operandFault(expr: Call, typing: Typing): TypeFault | undefined {
  const type = typing.env.ref(expr.operator);
  const name = (): string => printRef(expr.operator);
  if (type === undefined || (type.kind !== "function" && !isAny(type))) {
    return { loc: expr.loc, message: `undefined function ${name()}`, details: [], isUnknown: false };
  }
  if (type.kind !== "function") return undefined;
  const args = type.result === undefined ? type.args : [...type.args, type.result];
  const want = { args, variadic: type.variadic };
  const typesOf = (): readonly MaybeType[] => expr.args.map((arg) => typing.typeOf(arg, typing.env));
  const have = typesOf();
  if (have.length > args.length && type.variadic === undefined) {
    return argumentFault(expr.loc, name(), "too many arguments", have, want);
  }
  if (have.length < type.args.length) return argumentFault(expr.loc, name(), "too few arguments", have, want);
  for (const [index, arg] of expr.args.entries()) {
    const wanted = index < args.length ? args[index] : type.variadic;
    const known = have[index];
    if (!isUnknown(known) && !mayUnify(known, wanted)) {
      return argumentFault(expr.loc, name(), "invalid argument(s)", have, want);
    }
    if (!unifyTerm(arg, wanted, typing)) {
      return argumentFault(expr.loc, name(), "invalid argument(s)", typesOf(), want);
    }
  }
  return undefined;
}
