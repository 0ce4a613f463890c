import { isIPv4, isIPv6 } from "node:net";
import { type FieldError, invalid } from "../../../kube/field-error.ts";

/** Addresses and networks, as the API accepts them. */

export const isAddress = (value: string): boolean => isIPv4(value) || (isIPv6(value) && !value.includes("%"));

export const checkAddress = (value: string, path: string): readonly FieldError[] =>
  isAddress(value) ? [] : [invalid(path, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];

export const checkNetwork = (value: string, path: string): readonly FieldError[] =>
  parseNetwork(value) ? [] : [invalid(path, value, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];

export interface Network {
  readonly bits: bigint;
  readonly prefix: number;
  readonly size: 32 | 128;
}

export function parseNetwork(value: string): Network | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(value);
  const [, address = "", prefixText = ""] = match ?? [];
  const size = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  const prefix = Number(prefixText);
  if (!match || size === undefined || prefix > size) return undefined;
  return { bits: addressBits(address), prefix, size };
}

export const hasHostBits = ({ bits, prefix, size }: Network): boolean => BigInt.asUintN(size - prefix, bits) !== 0n;

/** Whether the second lies inside the first and is smaller. */
export function isStrictlyInside(outer: Network, inner: Network): boolean {
  if (outer.size !== inner.size || inner.prefix <= outer.prefix) return false;
  const shift = BigInt(outer.size - outer.prefix);
  return outer.bits >> shift === inner.bits >> shift;
}

function addressBits(address: string): bigint {
  if (isIPv4(address)) return address.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
  return expand(address).reduce((bits, group) => (bits << 16n) | BigInt(Number.parseInt(group, 16)), 0n);
}

function expand(address: string): readonly string[] {
  const tail = /(?<=:)\d+\.\d+\.\d+\.\d+$/.exec(address)?.[0];
  const text = tail ? address.replace(tail, hexPair(tail)) : address;
  const [left = "", right] = text.split("::");
  const before = left === "" ? [] : left.split(":");
  const after = right === undefined || right === "" ? [] : right.split(":");
  const zeros = right === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after];
}

function hexPair(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
