import {
  CelError,
  CelList,
  CelMap,
  type CelValue,
  displayKey,
  keyIdentity,
  none,
  noSuchOverload,
  Optional,
  Uint,
} from "./value.ts";

/** Fields, keys and indexes: how a value is looked into. */

export function fieldOf(value: CelValue, field: string): CelValue {
  if (value instanceof CelError) return value;
  if (value instanceof Optional) return optionalIndexOf(value, field);
  const found = value instanceof CelMap ? value.find(field) : undefined;
  return found === undefined ? new CelError(`no such key: ${field}`) : found;
}

export function hasField(value: CelValue, field: string): CelValue {
  if (value instanceof CelError) return value;
  const holder = value instanceof Optional ? value.value : value;
  if (holder === undefined) return false;
  if (!(holder instanceof CelMap)) return noSuchOverload;
  const found = holder.find(field);
  return found instanceof CelError ? found : found !== undefined;
}

export function indexOf(value: CelValue, key: CelValue): CelValue {
  if (value instanceof Optional) return optionalIndexOf(value, key);
  if (value instanceof CelMap) {
    const found = keyIdentity(key) === undefined ? noSuchOverload : value.find(key);
    return found === undefined ? new CelError(`no such key: ${displayKey(key)}`) : found;
  }
  if (!(value instanceof CelList)) return noSuchOverload;
  const index = listIndex(key);
  if (index === undefined) return new CelError(`unsupported index value ${displayKey(key)} in list`);
  return index < 0 || index >= value.length ? new CelError(`index out of bounds: ${displayKey(key)}`) : value.at(index);
}

export function optionalIndexOf(value: CelValue, key: CelValue): CelValue {
  const container = value instanceof Optional ? value.value : value;
  if (container === undefined) return none;
  let found: CelValue | undefined;
  if (container instanceof CelMap) found = container.find(key);
  else if (container instanceof CelList) {
    const index = listIndex(key);
    if (index === undefined) return noSuchOverload;
    found = index < 0 || index >= container.length ? undefined : container.at(index);
  } else return noSuchOverload;
  if (found instanceof CelError) return found;
  return found === undefined ? none : new Optional(found);
}

function listIndex(key: CelValue): number | undefined {
  if (typeof key === "bigint") return Number(key);
  if (key instanceof Uint) return Number(key.value);
  return typeof key === "number" && Number.isInteger(key) ? key : undefined;
}
