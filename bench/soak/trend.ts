/** One look at the running demo. */
export interface Sample {
  readonly minute: number;
  /** Resident memory of the process, whatever it is used for. */
  readonly rssMb: number;
  /** What is left in the heap after a full collection. */
  readonly heapMb: number;
  readonly fileDescriptors: number;
  /** Timers, sockets and whatever else keeps the event loop busy. */
  readonly handles: number;
  /** The Kubernetes API's file. It may grow until compaction and expiry keep up with what comes. */
  readonly apiMb: number;
  /** The registry's and the audit trail's file. The trail keeps every row for 90 days, so it grows with what is done. */
  readonly storeMb: number;
}

export type Measure = Exclude<keyof Sample, "minute">;

/** What the first and the last quarter of the samples have in common, and whether that is growth. */
export interface Trend {
  readonly measure: Measure;
  readonly first: number;
  readonly last: number;
  readonly limit: number;
  readonly grows: boolean;
}

/**
 * How much a measure may differ by chance: a share of the first quarter, and something on top for what is small. The trail
 * is not here: it is meant to grow.
 */
const tolerances: Readonly<Partial<Record<Measure, { readonly share: number; readonly more: number }>>> = {
  heapMb: { share: 0.05, more: 1 },
  rssMb: { share: 0.1, more: 5 },
  fileDescriptors: { share: 0, more: 3 },
  handles: { share: 0, more: 5 },
  apiMb: { share: 0.1, more: 1 },
};

/** Medians, because one sample may have been taken in the middle of something. */
export function trendsOf(samples: readonly Sample[]): readonly Trend[] {
  const count = Math.max(1, Math.floor(samples.length / 4));
  return (Object.keys(tolerances) as Measure[]).map((measure) => {
    const values = samples.map((sample) => sample[measure]);
    const first = median(values.slice(0, count));
    const last = median(values.slice(-count));
    const { share = 0, more = 0 } = tolerances[measure] ?? {};
    const limit = first * (1 + share) + more;
    return { measure, first, last, limit, grows: last > limit };
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
