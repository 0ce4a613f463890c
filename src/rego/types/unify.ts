/** Whether a value could have two types at once, as far as OPA looks. */
import { selectType } from "./select.ts";
import type { AnyType, ArrayType, MaybeType, ObjectType, Type } from "./types.ts";

export function mayUnify(left: MaybeType, right: MaybeType): boolean {
  if (left === undefined || right === undefined) return false;
  if (left.kind === "any" && anyMayUnify(left, right)) return true;
  if (right.kind === "any" && anyMayUnify(right, left)) return true;
  if (left.kind === "any" || right.kind === "any") return false;
  if (left.kind === "function") {
    // Something that is no function takes no operands.
    const args = right.kind === "function" ? right.args : [];
    return left.args.length === args.length && left.args.every((arg, index) => mayUnify(arg, args[index]));
  }
  if (left.kind === "array" && right.kind === "array") return arraysMayUnify(left, right);
  if (left.kind === "object" && right.kind === "object") return objectsMayUnify(left, right);
  if (left.kind === "set" && right.kind === "set") {
    // The empty set is a member of every type of sets.
    return left.item === undefined || right.item === undefined || mayUnify(left.item, right.item);
  }
  return left.kind === right.kind;
}

function anyMayUnify(left: AnyType, right: Type): boolean {
  if (right.kind === "function") return false;
  return left.of.length === 0 || left.of.some((each) => mayUnify(each, right));
}

function arraysMayUnify(left: ArrayType, right: ArrayType): boolean {
  const fits = (one: ArrayType, other: ArrayType): boolean =>
    one.items.every((item, index) => mayUnify(item, index < other.items.length ? other.items[index] : other.rest));
  if (!fits(left, right) || !fits(right, left)) return false;
  return left.rest === undefined || right.rest === undefined || mayUnify(left.rest, right.rest);
}

function objectsMayUnify(left: ObjectType, right: ObjectType): boolean {
  const isOpen = left.rest?.value !== undefined || right.rest?.value !== undefined;
  const fits = (one: ObjectType, other: ObjectType): boolean =>
    one.fields.every(([key, field]) => {
      const found = selectType(other, key);
      return found === undefined ? isOpen : mayUnify(field, found);
    });
  if (!fits(left, right) || !fits(right, left)) return false;
  const [own, others] = [left.rest?.value, right.rest?.value];
  return own === undefined || others === undefined || mayUnify(own, others);
}
