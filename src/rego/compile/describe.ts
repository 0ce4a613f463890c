/** Refs for messages, in the author's words. */
import { isWildcard, type RefTerm, refOf } from "../syntax/ast.ts";
import { printTerm } from "../syntax/print.ts";
import type { Names } from "./names.ts";

/** What a generated variable stands for, not its name. */
export function describeRef(ref: RefTerm, names: Names): string {
  const [head, ...rest] = ref.parts;
  const isAnonymous = head?.kind === "var" && names.isAnonymous(head.name) && !isWildcard(head.name);
  const subject = isAnonymous && head.loc.text !== "" ? head.loc.text : undefined;
  const shown = rest.map((part) =>
    part.kind === "var" && names.isAnonymous(part.name) ? { ...part, name: "_" } : part,
  );
  const text = printTerm(refOf(head === undefined ? [] : [head, ...shown], ref.loc));
  const named = text.replace(/@\d+/g, (name) => names.sourceOf(name));
  return subject === undefined || head?.kind !== "var" ? named : subject + named.slice(head.name.length);
}
