/** The type of the document or function that a rule defines. */
import { constantValue } from "../evaluate/terms.ts";
import type { RefTerm, Rule, Term } from "../syntax/ast.ts";
import { anyType, type MaybeType, objectType, setType } from "../types/types.ts";
import type { TypeEnv } from "./type-env.ts";
import { insertType, putType } from "./type-tree.ts";
import type { Typing } from "./type-unify.ts";
import { eachVarTerm } from "./variables.ts";

/** Puts the rule's type into `documents`; one with faults gets `any`, so that whoever uses it has none because of it. */
export function typeRule(
  rule: Rule,
  ref: RefTerm,
  isFaulty: boolean,
  env: TypeEnv,
  documents: TypeEnv,
  { typeOf }: Pick<Typing, "typeOf">,
): void {
  const { head } = rule;
  const parts = [...ref.parts.slice(0, ref.parts.length - head.ref.parts.length + 1), ...head.ref.parts.slice(1)];
  if (isFaulty) {
    putType(documents.tree, parts, anyType);
    return;
  }
  const typeOfPart = (part: Term): MaybeType => typeOf(part, documents);
  if (head.args !== undefined && head.args.length > 0) {
    for (const arg of head.args) {
      eachVarTerm(arg, (name) => {
        if (env.variable(name) === undefined) env.put(name, anyType);
      });
    }
    const args = head.args.map((arg) => typeOf(arg, env));
    const result = head.value === undefined ? undefined : typeOf(head.value, env);
    insertType(documents.tree, parts, { kind: "function", args, variadic: undefined, result }, typeOfPart);
    return;
  }
  const open = parts.findIndex((part, index) => index > 0 && constantValue(part) === undefined);
  const isSet = head.key !== undefined && head.value === undefined;
  const leafTerm = isSet ? head.key : head.value;
  const leaf = leafTerm === undefined ? undefined : typeOf(leafTerm, env);
  let type: MaybeType = isSet && leaf !== undefined ? setType(leaf) : leaf;
  for (const part of open === -1 ? [] : parts.slice(open).reverse()) {
    const key = typeOf(part, env);
    type = type === undefined || key === undefined ? undefined : objectType([], { key, value: type });
  }
  if (type !== undefined) insertType(documents.tree, open === -1 ? parts : parts.slice(0, open), type, typeOfPart);
}
