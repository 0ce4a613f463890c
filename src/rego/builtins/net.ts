/** IP addresses and networks. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { formatAddress, mergeNetworks, type Network, parseAddress, parseNetwork } from "./cidr.ts";
import { type Args, type Builtins, operand, stringAt, typeFault } from "./operands.ts";

export const netBuiltins: Builtins = {
  "net.cidr_contains": (args) => contains(operand(args, 0), operand(args, 1)),
  "net.cidr_overlap": (args) => contains(operand(args, 0), operand(args, 1)),
  "net.cidr_intersects": (args) => {
    const left = networkOf(stringAt(args, 0));
    const right = networkOf(stringAt(args, 1));
    return left.bits === right.bits && left.first <= right.last && right.first <= left.last;
  },
  "net.cidr_is_valid": (args) => {
    const [text] = args;
    return typeof text === "string" && parseNetwork(text) !== undefined;
  },
  "net.cidr_contains_matches": containsMatches,
  "net.cidr_expand": (args, machine) => {
    const network = networkOf(stringAt(args, 0));
    machine.grow(Number(network.last - network.first) + 1);
    const result = new RegoSet();
    for (let address = network.first; address <= network.last; address++) {
      machine.step();
      result.add(formatAddress(address, network.bits));
    }
    return result;
  },
  "net.cidr_merge": (args) => {
    const value = operand(args, 0);
    if (!isArray(value) && !(value instanceof RegoSet)) throw new BuiltinFault("operand must be an array");
    const networks = [...value].map((item) => {
      if (typeof item !== "string") throw new BuiltinFault("element must be string");
      return mergeable(item);
    });
    return new RegoSet(mergeNetworks(networks));
  },
  "net.lookup_ip_addr": (args, machine) => {
    const host = stringAt(args, 0);
    const literal = parseAddress(host);
    if (literal !== undefined) return new RegoSet([formatAddress(literal.value, literal.bits)]);
    // RFC 6761: this name always means the own machine.
    if (host === "localhost") return new RegoSet(["127.0.0.1"]);
    const { lookupAddress } = machine.env;
    if (lookupAddress === undefined) throw new BuiltinFault(`lookup ${host}: name resolution is not allowed`);
    return new RegoSet(lookupAddress(host));
  },
};

function networkOf(text: string): Network {
  const network = parseNetwork(text);
  if (network === undefined) throw new BuiltinFault(`invalid CIDR address: ${text}`);
  return network;
}

/** An IPv4 address alone gets the mask of its class, as Go's `DefaultMask` gives it. */
function mergeable(text: string): Network {
  const address = parseAddress(text);
  if (address === undefined) return networkOf(text);
  if (address.bits !== 32) throw new BuiltinFault("IPv6 invalid: needs prefix length");
  const top = Number(address.value >> 24n);
  const prefix = top < 128 ? 8 : top < 192 ? 16 : top < 224 ? 24 : 0;
  return { ...networkOf(`${text}/${prefix}`), text: `${text}/${prefix}` };
}

function contains(cidr: Value, other: Value): boolean {
  if (typeof cidr !== "string") throw typeFault(0, cidr, "string");
  const network = networkOf(cidr);
  if (typeof other !== "string") throw typeFault(0, other, "string");
  const address = parseAddress(other);
  if (address !== undefined) {
    return address.bits === network.bits && address.value >= network.first && address.value <= network.last;
  }
  const inner = parseNetwork(other);
  if (inner === undefined) {
    throw new BuiltinFault(`not a valid textual representation of an IP address or CIDR: ${other}`);
  }
  return inner.bits === network.bits && inner.first >= network.first && inner.last <= network.last;
}

function containsMatches(args: Args): Value {
  const result = new RegoSet();
  for (const [cidr, index] of candidates(operand(args, 0), 1)) {
    for (const [other, otherIndex] of candidates(operand(args, 1), 2)) {
      if (contains(cidr, other)) result.add([index, otherIndex]);
    }
  }
  return result;
}

/** One by one, because the first thing that is wrong ends the call. */
function* candidates(value: Value, position: number): IterableIterator<readonly [Value, Value]> {
  const text = (item: Value): Value => {
    const first = isArray(item) ? item[0] : typeof item === "string" ? item : undefined;
    if (first === undefined) {
      throw new BuiltinFault(`operand ${position}: element must be string or non-empty array`);
    }
    return first;
  };
  if (typeof value === "string") yield [value, value];
  else if (isArray(value)) for (const [index, item] of value.entries()) yield [text(item), index];
  else if (value instanceof RegoSet) for (const item of value.items()) yield [text(item), item];
  else if (value instanceof RegoObject) for (const key of value.keys()) yield [text(value.get(key) ?? null), key];
}
