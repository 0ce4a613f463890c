/** Access by key: `xs[0]`, `object.field`, membership of a set. */
import { integerOf, isNumber } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";

export function lookup(container: Value, key: Value): Value | undefined {
  if (container instanceof RegoObject) return container.get(key);
  if (isArray(container)) {
    if (typeof key === "number") return container[key];
    if (!isNumber(key)) return undefined;
    const index = integerOf(key);
    return index === undefined ? undefined : container[Number(index)];
  }
  if (container instanceof RegoSet) return container.has(key) ? key : undefined;
  return undefined;
}

/** Calls back with each key and value, in OPA's order; stops at `true`. */
export function iterate(container: Value, visit: (key: Value, value: Value) => boolean): boolean {
  if (isArray(container)) {
    for (let index = 0; index < container.length; index++) {
      const item = container[index];
      if (item !== undefined && visit(index, item)) return true;
    }
    return false;
  }
  if (container instanceof RegoObject) {
    for (const key of container.keys()) {
      const value = container.get(key);
      if (value !== undefined && visit(key, value)) return true;
    }
    return false;
  }
  if (container instanceof RegoSet) {
    for (const item of container.items()) if (visit(item, item)) return true;
  }
  return false;
}
