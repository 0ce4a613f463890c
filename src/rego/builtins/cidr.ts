/** Addresses as numbers: parsing and printing in Go's forms, networks, and merging of networks. */

export interface Address {
  readonly value: bigint;
  readonly bits: 32 | 128;
}

export interface Network {
  readonly first: bigint;
  readonly last: bigint;
  readonly prefix: number;
  readonly bits: 32 | 128;
  /** How the network is written as long as it is not merged with another one. */
  readonly text?: string;
}

export function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) {
    const value = parseV4(text);
    return value === undefined ? undefined : { value, bits: 32 };
  }
  const value = parseV6(text);
  if (value === undefined) return undefined;
  // Go does not tell an IPv4-mapped address from the IPv4 address.
  return value >> 32n === 0xffffn ? { value: value & 0xffffffffn, bits: 32 } : { value, bits: 128 };
}

export function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf("/");
  if (slash === -1) return undefined;
  const addressText = text.slice(0, slash);
  const prefixText = text.slice(slash + 1);
  const isV4 = !addressText.includes(":");
  const value = isV4 ? parseV4(addressText) : parseV6(addressText);
  const bits = isV4 ? 32 : 128;
  if (value === undefined || !/^(0|[1-9]\d{0,2})$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText);
  if (prefix > bits) return undefined;
  return networkAt(value, prefix, bits);
}

export function formatAddress(value: bigint, bits: 32 | 128): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  if (value >> 32n === 0xffffn) return formatAddress(value & 0xffffffffn, 32);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start === -1) return hex.join(":");
  return `${hex.slice(0, best.start).join(":")}::${hex.slice(best.start + best.length).join(":")}`;
}

/** The smallest set of networks that covers the same addresses. */
export function mergeNetworks(networks: readonly Network[]): readonly string[] {
  const merged: string[] = [];
  for (const bits of [32, 128] as const) {
    const ranges = networks
      .filter((network) => network.bits === bits)
      .map(({ first, last, text }) => ({ first, last, text }))
      .sort((left, right) => (left.first < right.first ? -1 : left.first > right.first ? 1 : 0));
    const joined: { first: bigint; last: bigint; text: string | undefined }[] = [];
    for (const range of ranges) {
      const previous = joined.at(-1);
      if (previous !== undefined && range.first <= previous.last + 1n) {
        if (range.last > previous.last) previous.last = range.last;
        previous.text = undefined;
      } else joined.push({ ...range });
    }
    for (const { first, last, text } of joined)
      merged.push(...(text === undefined ? networksOf(first, last, bits) : [text]));
  }
  return merged;
}

function networksOf(first: bigint, last: bigint, bits: 32 | 128): readonly string[] {
  const result: string[] = [];
  for (let start = first; start <= last; ) {
    let size = 1n;
    let prefix = bits as number;
    while (prefix > 0 && start % (size * 2n) === 0n && start + size * 2n - 1n <= last) {
      size *= 2n;
      prefix--;
    }
    result.push(`${formatAddress(start, bits)}/${prefix}`);
    start += size;
  }
  return result;
}

function networkAt(value: bigint, prefix: number, bits: 32 | 128): Network {
  const size = 1n << BigInt(bits - prefix);
  const first = value - (value % size);
  return { first, last: first + size - 1n, prefix, bits };
}

function parseV4(text: string): bigint | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined;
  let value = 0n;
  for (const part of text.split(".")) {
    if ((part.length > 1 && part.startsWith("0")) || Number(part) > 255) return undefined;
    value = value * 256n + BigInt(part);
  }
  return value;
}

function parseV6(source: string): bigint | undefined {
  let text = source;
  const lastColon = text.lastIndexOf(":");
  if (text.includes(".")) {
    const v4 = parseV4(text.slice(lastColon + 1));
    if (v4 === undefined) return undefined;
    text = `${text.slice(0, lastColon + 1)}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  }
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groupsOf = (half: string): readonly string[] => (half === "" ? [] : half.split(":"));
  const head = groupsOf(halves[0] ?? "");
  const tail = groupsOf(halves[1] ?? "");
  if ([...head, ...tail].some((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  let value = 0n;
  for (const group of [...head, ...Array.from({ length: missing }, () => "0"), ...tail]) {
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}
