/** Takes fields and items out of a value. A container that loses everything becomes null; the rest keeps its identity. */
import type { ListType, MapType, Type } from "./compile.ts";
import { emptySet, type FieldSet, isEmpty } from "./field-set.ts";
import { isEmptyMap, isList, isMap, type JsonMap, setField } from "./json-value.ts";
import { fieldElementOf, itemElementOrLost, shapeOf, type TypedValue } from "./typed-value.ts";

export const removeItems = (typed: TypedValue, fields: FieldSet): TypedValue => ({
  type: typed.type,
  value: remove(typed.type, typed.value, fields),
});

function remove(type: Type, value: unknown, fields: FieldSet): unknown {
  const shape = shapeOf(type, value);
  switch (shape.kind) {
    case "Scalar":
      return value;
    case "Map":
      // Fields below an atomic value can only be left over from a time when it was not atomic.
      if (!isMap(value) || shape.atomic || isEmptyMap(value)) return null;
      return removeFields(shape, value, fields);
    case "List":
      if (!isList(value) || shape.relationship === "atomic" || value.length === 0) return null;
      return removeListItems(shape, value, fields);
    case "None":
      return null;
  }
}

function removeFields(map: MapType, value: JsonMap, fields: FieldSet): JsonMap | null {
  const rest: Record<string, unknown> = {};
  let changed = false;
  let left = 0;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const field = map.fields.get(name);
    const chosen = fields.children?.get(fieldElementOf(field, name));
    if (chosen?.own) {
      changed = true;
      continue;
    }
    const type = field ? field.type : map.element;
    const after = chosen && type ? remove(type, member, chosen) : member;
    changed ||= after !== member;
    setField(rest, name, after);
    left += 1;
  }
  if (!changed) return value;
  return left > 0 ? rest : null;
}

function removeListItems(list: ListType, value: readonly unknown[], fields: FieldSet): readonly unknown[] | null {
  const rest: unknown[] = [];
  let changed = false;
  for (const item of value) {
    const chosen = fields.children?.get(itemElementOrLost(list, item)) ?? emptySet;
    if (chosen.own) {
      changed = true;
      continue;
    }
    const after = isEmpty(chosen) ? item : remove(list.element, item, chosen);
    changed ||= after !== item;
    rest.push(after);
  }
  if (!changed) return value;
  return rest.length > 0 ? rest : null;
}
