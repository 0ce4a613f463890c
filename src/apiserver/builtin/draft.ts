import type { KubeObject } from "../../kube/object.ts";
import { isRecord, setOwn } from "./json.ts";

/** A private copy of an object while it is being filled in; readers outside get it only when it is finished. */
export type Draft = { [field: string]: unknown };

export const finished = (draft: Draft): KubeObject => draft as unknown as KubeObject;

export const draftOf = (object: KubeObject): Draft => copy(object) as Draft;

/** The parts of an object without a copy, for reading only. */
export const partsOf = (object: KubeObject): Draft => object as unknown as Draft;

export function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isRecord(value)) return value;
  const result: Draft = {};
  for (const key of Object.keys(value)) setOwn(result, key, copy(value[key]));
  return result;
}

/** The object below a field; nothing when the field is absent. */
export const child = (draft: Draft | undefined, field: string): Draft | undefined => {
  const value = draft?.[field];
  return isRecord(value) ? (value as Draft) : undefined;
};

/** The object at the end of a path of fields. */
export const descend = (draft: Draft | undefined, ...fields: readonly string[]): Draft | undefined =>
  fields.reduce<Draft | undefined>(child, draft);

/** The object below a field, made when it is absent. */
export function ensure(draft: Draft, field: string): Draft {
  const known = child(draft, field);
  if (known) return known;
  const made: Draft = {};
  draft[field] = made;
  return made;
}

/** The objects of a list; none when the field is absent. */
export const items = (draft: Draft | undefined, field: string): readonly Draft[] => {
  const value = draft?.[field];
  return Array.isArray(value) ? (value.filter(isRecord) as Draft[]) : [];
};

export const strings = (draft: Draft | undefined, field: string): readonly string[] => {
  const value = draft?.[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
};

export const text = (draft: Draft | undefined, field: string): string => {
  const value = draft?.[field];
  return typeof value === "string" ? value : "";
};

export const numeral = (draft: Draft | undefined, field: string): number | undefined => {
  const value = draft?.[field];
  return typeof value === "number" ? value : undefined;
};

export const entries = (draft: Draft | undefined, field: string): readonly (readonly [string, unknown])[] =>
  Object.entries(child(draft, field) ?? {});

/** Sets a field that is absent or null. */
export function fill(draft: Draft, field: string, value: unknown): void {
  draft[field] ??= value;
}

/** Sets a string or number that Go would call zero. */
export function fillEmpty(draft: Draft, field: string, value: unknown): void {
  const current = draft[field];
  if (current === undefined || current === null || current === "" || current === 0) draft[field] = value;
}
