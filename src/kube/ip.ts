/** IP addresses and networks, read as Go's net and netip packages read them. */
export interface IpAddress {
  readonly family: 4 | 6;
  /** 32 or 128 bits. */
  readonly bits: bigint;
  /** An IPv6 address may name an interface: `fe80::1%eth0`. */
  readonly zone?: string;
  /** An IPv6 address that was written with an IPv4 tail inside `::ffff:0:0/96`. */
  readonly mapped?: boolean;
}

export interface IpOptions {
  /** Old servers accepted `010.0.0.1`; schema formats still do. */
  readonly leadingZeros?: boolean;
}

export function parseIp(text: string, options: IpOptions = {}): IpAddress | undefined {
  if (text.length > maxLength) return undefined;
  return text.includes(":") ? parseIpv6(text, options) : parseIpv4(text, options);
}

export interface IpNetwork {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

export function parseCidr(text: string, options: IpOptions = {}): IpNetwork | undefined {
  const slash = text.lastIndexOf("/");
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash), options);
  const digits = text.slice(slash + 1);
  if (address === undefined || address.zone !== undefined || !isPrefixLength(digits, options)) return undefined;
  const prefixLength = Number(digits);
  return prefixLength <= widthOf(address) ? { address, prefixLength } : undefined;
}

const isPrefixLength = (digits: string, options: IpOptions): boolean =>
  options.leadingZeros ? /^\d{1,3}$/.test(digits) : /^(?:0|[1-9]\d{0,2})$/.test(digits);

/** The address in canonical form: lower case, the longest run of zero groups shortened (RFC 5952). */
export function formatIp(address: IpAddress): string {
  if (address.family === 4) return dotted(address.bits);
  const zone = address.zone === undefined ? "" : `%${address.zone}`;
  if (isMapped(address)) return `::ffff:${dotted(address.bits & 0xffffffffn)}${zone}`;
  const groups = Array.from({ length: 8 }, (_, index) => Number((address.bits >> BigInt(112 - index * 16)) & 0xffffn));
  const run = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (run === undefined) return `${hex.join(":")}${zone}`;
  return `${hex.slice(0, run.start).join(":")}::${hex.slice(run.end).join(":")}${zone}`;
}

/** The first address of a network. */
export const maskIp = (address: IpAddress, prefixLength: number): IpAddress => {
  const host = BigInt(widthOf(address) - prefixLength);
  return { family: address.family, bits: (address.bits >> host) << host };
};

export const containsIp = (network: IpNetwork, address: IpAddress): boolean =>
  network.address.family === address.family &&
  maskIp(address, network.prefixLength).bits === maskIp(network.address, network.prefixLength).bits;

export const widthOf = (address: IpAddress): number => (address.family === 4 ? 32 : 128);

export const isMapped = (address: IpAddress): boolean => address.family === 6 && address.bits >> 32n === 0xffffn;

const maxLength = 256;
const dotted = (bits: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");

function parseIpv4(text: string, options: IpOptions): IpAddress | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    const valid = options.leadingZeros ? /^0*\d{1,3}$/.test(part) : /^(?:0|[1-9]\d{0,2})$/.test(part);
    if (!valid || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return { family: 4, bits };
}

function parseIpv6(text: string, options: IpOptions): IpAddress | undefined {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? undefined : text.slice(percent + 1);
  if (zone === "") return undefined;
  const halves = (percent < 0 ? text : text.slice(0, percent)).split("::");
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? "", halves.length === 1, options);
  const tail = groupsOf(halves[1] ?? "", true, options);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  // The double colon stands for at least one group.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<number>(halves.length === 2 ? missing : 0).fill(0), ...tail];
  const bits = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  return { family: 6, bits, ...(zone !== undefined && { zone }) };
}

/** Groups of 16 bits; only the end of an address may be written as IPv4. */
function groupsOf(text: string, isEnd: boolean, options: IpOptions): readonly number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (isEnd && index === parts.length - 1 && part.includes(".")) {
      const v4 = parseIpv4(part, options);
      if (v4 === undefined) return undefined;
      groups.push(Number(v4.bits >> 16n), Number(v4.bits & 0xffffn));
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly end: number } | undefined {
  let best: { start: number; end: number } | undefined;
  for (let start = 0; start < groups.length; start += 1) {
    let end = start;
    while (groups[end] === 0) end += 1;
    if (end - start >= 2 && (best === undefined || end - start > best.end - best.start)) best = { start, end };
    if (end > start) start = end;
  }
  return best;
}
