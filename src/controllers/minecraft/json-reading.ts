import { OutsideError } from "./outside.ts";

/** Careful steps into JSON that strangers wrote: what has the wrong type is not there. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string | undefined =>
  typeof value === "string" && value.length <= maxTextLength ? value : undefined;

export const asTexts = (value: unknown): readonly string[] => asList(value).flatMap((entry) => asText(entry) ?? []);

export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const asTime = (value: unknown): string | undefined => {
  const time = Date.parse(asText(value) ?? "");
  return Number.isNaN(time) ? undefined : `${new Date(time).toISOString().slice(0, 19)}Z`;
};

/** An answer whose outermost shape is wrong is no answer. */
export function mustBeObject(value: unknown, whose: string): JsonObject {
  const object = asObject(value);
  if (!object) throw new OutsideError("Malformed", `${whose} answered with JSON of another shape`);
  return object;
}

export function mustBeList(value: unknown, whose: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new OutsideError("Malformed", `${whose} answered with JSON of another shape`);
  return value;
}

const maxTextLength = 2_048;
