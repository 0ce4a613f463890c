/** The runs of values that are not allowed, as inclusive pairs from low to high. */
export type Gaps = readonly (readonly [number, number])[];

export function gapsOf(allowed: readonly number[], size: number): Gaps {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const value of ascending(allowed)) {
    if (value > next) gaps.push([next, value - 1]);
    next = Math.max(next, value + 1);
  }
  if (next < size) gaps.push([next, size - 1]);
  return gaps;
}

/** Nearly all lists are in order already. */
export function ascending(values: readonly number[]): readonly number[] {
  for (let index = 1; index < values.length; index++)
    if ((values[index] ?? 0) < (values[index - 1] ?? 0)) return [...values].sort((a, b) => a - b);
  return values;
}
