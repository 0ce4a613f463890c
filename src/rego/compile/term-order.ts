/** OPA's order of terms, which is the order in which members of set and object literals are evaluated. */
import type { Term } from "../syntax/ast.ts";
import { compareStrings, compareValues } from "../values/compare.ts";

const order: readonly Term["kind"][] = [
  "scalar",
  "var",
  "ref",
  "array",
  "object",
  "set",
  "array-comprehension",
  "object-comprehension",
  "set-comprehension",
  "call",
  "template",
];

/** Terms whose order cannot be told (bodies, templates) stay as they are written. */
export function compareTerms(left: Term, right: Term): number {
  if (left.kind !== right.kind) return order.indexOf(left.kind) - order.indexOf(right.kind);
  if (left.kind === "scalar" && right.kind === "scalar") return compareValues(left.value, right.value);
  if (left.kind === "var" && right.kind === "var") return compareStrings(left.name, right.name);
  if (left.kind === "ref" && right.kind === "ref") return compareLists(left.parts, right.parts);
  if (left.kind === "call" && right.kind === "call") {
    return compareLists([left.operator, ...left.args], [right.operator, ...right.args]);
  }
  if (left.kind === "array" && right.kind === "array") return compareLists(left.items, right.items);
  if (left.kind === "set" && right.kind === "set") return compareLists(left.items, right.items);
  if (left.kind === "object" && right.kind === "object") return compareLists(left.entries.flat(), right.entries.flat());
  return 0;
}

function compareLists(left: readonly Term[], right: readonly Term[]): number {
  for (const [index, item] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const result = compareTerms(item, other);
    if (result !== 0) return result;
  }
  return left.length - right.length;
}
