/** What every engine is measured for. */

export interface PeerResult {
  readonly name: string;
  readonly p50Ns: number;
  readonly p99Ns: number;
  /** From source text to a prepared query; undefined for a server, which is started before it is asked. */
  readonly coldNs?: number;
  /** JSON texts by input, or `undefined`. */
  readonly answers: readonly string[];
}

export function percentile(times: readonly number[], percent: number): number {
  const sorted = [...times].sort((left, right) => left - right);
  return sorted[Math.floor((sorted.length * percent) / 100)] ?? 0;
}

/** The place of the first answer that is not the same; engines order fields differently. */
export function firstDifference(ours: readonly string[], theirs: readonly string[]): number {
  return ours.findIndex((answer, index) => canonical(answer) !== canonical(theirs[index] ?? "nothing"));
}

function canonical(answer: string): string {
  if (answer === "undefined" || answer === "nothing") return answer;
  // Sets are arrays in JSON, and opa-wasm writes them in another order.
  return JSON.stringify(JSON.parse(answer), (_, value: unknown) =>
    Array.isArray(value)
      ? [...value].sort()
      : value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
        : value,
  );
}
