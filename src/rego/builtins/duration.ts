/** Go durations (`1h30m`), with OPA's days, weeks and years. */

const unitsNs: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
  y: 31_536_000_000_000_000n,
};

/** Nanoseconds, or the message that says what is wrong. */
export function parseDuration(text: string): bigint | string {
  const quoted = JSON.stringify(text);
  const invalid = `time: invalid duration ${quoted}`;
  const negative = text.startsWith("-");
  let rest = text.replace(/^[+-]/, "");
  if (rest === "0") return 0n;
  if (rest === "") return invalid;
  let total = 0n;
  while (rest !== "") {
    const match = /^(\d*)(?:\.(\d*))?/.exec(rest);
    const whole = match?.[1] ?? "";
    const fraction = match?.[2] ?? "";
    if (whole === "" && fraction === "") return invalid;
    rest = rest.slice(match?.[0].length ?? 0);
    const unit = /^[^.\d]+/.exec(rest)?.[0] ?? "";
    if (unit === "") return /[dwy]/.test(text) ? invalid : `time: missing unit in duration ${quoted}`;
    const scale = Object.hasOwn(unitsNs, unit) ? unitsNs[unit] : undefined;
    if (scale === undefined) {
      return /[dwy]/.test(text) ? invalid : `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
    }
    rest = rest.slice(unit.length);
    total += BigInt(whole === "" ? "0" : whole) * scale;
    if (fraction !== "") total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
    if (total > 2n ** 63n) return invalid;
  }
  if (total > 2n ** 63n - (negative ? 0n : 1n)) return invalid;
  return negative ? -total : total;
}
