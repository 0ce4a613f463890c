import { type Parsed, parsed } from "../../parsed.ts";
import { parseTime } from "../../time.ts";
import type { Timestamp } from "../value.ts";

/** Timestamps as texts, to the nanosecond. */

export function parseTimestamp(text: string): Parsed<bigint> {
  const result = parseTime(text);
  if (!result.ok) return result;
  const seconds = BigInt(Math.floor(result.value.getTime() / 1000));
  const fraction = /[.,](\d+)/.exec(text)?.[1] ?? "";
  return parsed(seconds * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0")));
}

export function formatTimestamp({ nanoseconds }: Timestamp): string {
  const { milliseconds, rest } = split(nanoseconds);
  const seconds = new Date(milliseconds).toISOString().slice(0, 19);
  const fraction = rest.toString().padStart(9, "0").replace(/0+$/, "");
  return `${seconds}${fraction === "" ? "" : `.${fraction}`}Z`;
}

/** Whole seconds as milliseconds, and the nanoseconds within the second. */
export function split(nanoseconds: bigint): { readonly milliseconds: number; readonly rest: bigint } {
  const rest = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return { milliseconds: Number((nanoseconds - rest) / 1_000_000n), rest };
}
