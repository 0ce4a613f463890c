import type { CelType } from "./type.ts";

/** The least and the most that something may cost or measure. Counting stops at the limit, which stands for "unbounded". */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Beyond 2^64 the real server stops counting; a number holds that well enough. */
export const unbounded = 2 ** 64;

export const fixed = (value: number): Range => ({ min: value, max: value });
export const unknownSize: Range = { min: 0, max: unbounded };
export const nothing: Range = fixed(0);

export const add = (...ranges: readonly Range[]): Range =>
  ranges.reduce((sum, { min, max }) => ({ min: capped(sum.min + min), max: capped(sum.max + max) }), nothing);

export const multiply = (left: Range, right: Range): Range => ({
  min: capped(left.min * right.min),
  max: capped(left.max * right.max),
});

/** Times a factor per unit, rounded up. */
export const times = ({ min, max }: Range, factor: number): Range => ({
  min: capped(Math.ceil(min * factor)),
  max: capped(Math.ceil(max * factor)),
});

export const union = (left: Range, right: Range): Range => ({
  min: Math.min(left.min, right.min),
  max: Math.max(left.max, right.max),
});

const capped = (value: number): number => Math.min(value, unbounded);

/** Reading a text costs a tenth per character, a pattern a quarter per character of the pattern. */
export const textFactor = 0.1;
export const patternFactor = 0.25;
export const listCost = 10;
export const mapCost = 30;

/** What is known of an argument before the expression runs. */
export interface Sized {
  readonly type: CelType;
  readonly size: Range;
  /** Of lists: the sizes of their items. */
  readonly item?: Range;
  /** The value itself, when it is written in the expression. */
  readonly literal?: unknown;
}

export interface CallSizes {
  readonly target?: Sized;
  readonly args: readonly Sized[];
}

export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range;
}
