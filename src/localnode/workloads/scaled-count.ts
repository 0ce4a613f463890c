/** Counts that a manifest gives as a number or as a share of another one: `3`, `25%`. */
export function scaledCount(value: number | string | undefined, total: number, round: "up" | "down"): number {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return Number.parseInt(value, 10) || 0;
  const exact = (Number(percent) * total) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}

/** How far a rolling update may go above and below the wanted number; never nowhere, or it could not move at all. */
export function rollingLimits(
  limits: { readonly maxSurge?: number | string; readonly maxUnavailable?: number | string } | undefined,
  desired: number,
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const maxSurge = scaledCount(limits?.maxSurge, desired, "up");
  const maxUnavailable = scaledCount(limits?.maxUnavailable, desired, "down");
  return maxSurge === 0 && maxUnavailable === 0 ? { maxSurge, maxUnavailable: 1 } : { maxSurge, maxUnavailable };
}
