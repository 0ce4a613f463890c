import { duplicate, type FieldError, invalid } from "../field-error.ts";
import { childPath, indexPath, keyPath } from "../field-path.ts";
import { goJson } from "../go-text.ts";
import { isMembers, type Members, memoized, valuesOf } from "./resolve.ts";
import type { Definitions, Schema } from "./schema.ts";

/** Lists of type set may not repeat an item, lists of type map not the keys of one. */
export type ListTypeCheck = (value: unknown, path: string) => readonly FieldError[];

const none: readonly FieldError[] = [];

export const compileListTypes = (definitions: Definitions): ((schema: Schema) => ListTypeCheck) =>
  memoized<ListTypeCheck>(definitions, (schema, compile) => {
    const values = valuesOf(schema);
    const checkValues = values && compile(values);
    const properties = new Map(Object.entries(schema.properties ?? {}).map(([name, child]) => [name, compile(child)]));
    const checkItems = schema.items && compile(schema.items);
    return (value, path) => {
      if (Array.isArray(value)) {
        const own = checkList(schema, value, path);
        const nested = checkItems ? value.flatMap((item, index) => checkItems(item, indexPath(path, index))) : none;
        return own.length === 0 ? nested : [...own, ...nested];
      }
      if (!isMembers(value)) return none;
      const errors: FieldError[] = [];
      for (const name of Object.keys(value)) {
        if (checkValues !== undefined) errors.push(...checkValues(value[name], keyPath(path, name)));
        const check = properties.get(name);
        if (check !== undefined) errors.push(...check(value[name], childPath(path, name)));
      }
      return errors;
    };
  });

function checkList(schema: Schema, list: readonly unknown[], path: string): readonly FieldError[] {
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return repeated(list).map((index) => duplicate(indexPath(path, index), list[index]));
    case "map":
      return checkMapList(schema["x-kubernetes-list-map-keys"] ?? [], list, path);
    default:
      return none;
  }
}

function checkMapList(keys: readonly string[], list: readonly unknown[], path: string): readonly FieldError[] {
  const wrong = list.findIndex((item) => item !== null && !isMembers(item));
  if (wrong >= 0) {
    return [invalid(indexPath(path, wrong), list[wrong], "must be an object for an array of list-type map")];
  }
  const identities = list.map((item) => pick(isMembers(item) ? item : {}, keys));
  return repeated(identities).map((index) => duplicate(indexPath(path, index), identities[index]));
}

const pick = (item: Members, keys: readonly string[]): Members =>
  Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));

/** Where something appears for the second time; further repetitions are not reported again. */
function repeated(items: readonly unknown[]): readonly number[] {
  const times = new Map<string, number>();
  return items.flatMap((item, index) => {
    const identity = goJson(item);
    const seen = times.get(identity) ?? 0;
    times.set(identity, seen + 1);
    return seen === 1 ? [index] : [];
  });
}
