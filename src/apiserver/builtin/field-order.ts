import type { Draft } from "./draft.ts";
import { isRecord } from "./json.ts";
import type { WireStruct, WireType } from "./wire-types.ts";

/**
 * The fields of an object in the order of its type, wherever defaults came in later: messages quote whole objects, and
 * readers know where to look. Parts that are in order already are not copied.
 */
export function inFieldOrder(struct: WireStruct, draft: Draft): Draft {
  const ordered: Draft = {};
  let isSame = true;
  let last = -1;
  const positions = positionsOf(struct);
  for (const key of Object.keys(draft)) {
    const position = positions.get(key) ?? -1;
    if (position < last) isSame = false;
    last = position;
  }
  for (const { name, type } of struct.fields) {
    const value = draft[name];
    if (value === undefined) continue;
    const member = orderedValue(type, value);
    if (member !== value) isSame = false;
    ordered[name] = member;
  }
  return isSame ? draft : ordered;
}

function orderedValue(type: WireType, value: unknown): unknown {
  if (type.kind === "struct") return isRecord(value) ? inFieldOrder(type.struct(), value as Draft) : value;
  if (type.kind === "list" && type.items.kind === "struct" && Array.isArray(value)) {
    const items = value.map((item: unknown) => orderedValue(type.items, item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  return value;
}

const positionsByStruct = new WeakMap<WireStruct, ReadonlyMap<string, number>>();

function positionsOf(struct: WireStruct): ReadonlyMap<string, number> {
  const known = positionsByStruct.get(struct);
  if (known) return known;
  const positions = new Map(struct.fields.map(({ name }, position) => [name, position]));
  positionsByStruct.set(struct, positions);
  return positions;
}
