import { goQuote } from "../../go-text.ts";
import {
  containsIp,
  formatIp,
  type IpAddress,
  type IpNetwork,
  isMapped,
  maskIp,
  parseCidr,
  parseIp,
  widthOf,
} from "../../ip.ts";
import { add, fixed, textFactor, times } from "../cost.ts";
import { declare, type FunctionDeclaration, fn, method, type Overload } from "../declaration.ts";
import { boolType, intType, opaqueType, stringType } from "../type.ts";
import { CelError, type CelValue, noSuchOverload, Opaque, sizeOf } from "../value.ts";
import { readsTarget } from "./text-cost.ts";

export const ipType = opaqueType("net.IP");
export const cidrType = opaqueType("net.CIDR");

class IpValue extends Opaque {
  readonly type = ipType;
  readonly address: IpAddress;
  constructor(address: IpAddress) {
    super();
    this.address = address;
  }
  equals(other: CelValue): boolean {
    return (
      other instanceof IpValue &&
      other.address.family === this.address.family &&
      other.address.bits === this.address.bits
    );
  }
  override size(): number {
    return Math.ceil(widthOf(this.address) / 8);
  }
}

class CidrValue extends Opaque {
  readonly type = cidrType;
  readonly network: IpNetwork;
  constructor(network: IpNetwork) {
    super();
    this.network = network;
  }
  equals(other: CelValue): boolean {
    if (!(other instanceof CidrValue)) return false;
    const [left, right] = [this.network, other.network];
    return (
      left.prefixLength === right.prefixLength &&
      left.address.family === right.address.family &&
      left.address.bits === right.address.bits
    );
  }
  override size(): number {
    return Math.ceil(this.network.prefixLength / 8);
  }
}

const readsArgument: Pick<Overload, "cost" | "estimate"> = {
  ...readsTarget("argument"),
  estimate: ({ args: [text] }) => text && { cost: times(text.size, textFactor) },
};
const readsTwice: Pick<Overload, "cost" | "estimate"> = {
  cost: ([text = null]) => Math.ceil(sizeOf(text) * 2 * textFactor),
  estimate: ({ args: [text] }) => text && { cost: times(text.size, 2 * textFactor) },
};

const question = (name: string, id: string, holds: (address: IpAddress) => boolean): FunctionDeclaration =>
  declare(
    name,
    method(id, [ipType], boolType, (value) => holds((value as IpValue).address)),
  );

/** Addresses and networks: `cidr("10.0.0.0/8").containsIP("10.1.2.3")`. */
export const addressLibrary: readonly FunctionDeclaration[] = [
  declare(
    "ip",
    fn("string_to_ip", [stringType], ipType, (text) => parseAddress(text as string), readsArgument),
    method("cidr_ip", [cidrType], ipType, (cidr) => new IpValue((cidr as CidrValue).network.address)),
  ),
  declare(
    "isIP",
    fn("is_ip", [stringType], boolType, (text) => parseAddress(text as string) instanceof IpValue, readsArgument),
  ),
  declare("ip.isCanonical", fn("ip_is_canonical", [stringType], boolType, isCanonical, readsTwice)),
  declare(
    "family",
    method("ip_family", [ipType], intType, (value) => BigInt((value as IpValue).address.family)),
  ),
  question("isUnspecified", "ip_is_unspecified", ({ bits }) => bits === 0n),
  question("isLoopback", "ip_is_loopback", isLoopback),
  question("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
  question("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
  question("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
  declare(
    "cidr",
    fn("string_to_cidr", [stringType], cidrType, (text) => parseNetwork(text as string), readsArgument),
  ),
  declare(
    "isCIDR",
    fn("is_cidr", [stringType], boolType, (text) => parseNetwork(text as string) instanceof CidrValue, readsArgument),
  ),
  declare(
    "containsIP",
    method(
      "cidr_contains_ip_string",
      [cidrType, stringType],
      boolType,
      (cidr, text) => holdsIp(cidr, parseAddress(text as string)),
      containsCost(true, false),
    ),
    method("cidr_contains_ip_ip", [cidrType, ipType], boolType, holdsIp, containsCost(false, false)),
  ),
  declare(
    "containsCIDR",
    method(
      "cidr_contains_cidr_string",
      [cidrType, stringType],
      boolType,
      (cidr, text) => holdsCidr(cidr, parseNetwork(text as string)),
      containsCost(true, true),
    ),
    method("cidr_contains_cidr", [cidrType, cidrType], boolType, holdsCidr, containsCost(false, true)),
  ),
  declare(
    "prefixLength",
    method("cidr_prefix_length", [cidrType], intType, (cidr) => BigInt((cidr as CidrValue).network.prefixLength)),
  ),
  declare("masked", method("cidr_masked", [cidrType], cidrType, masked)),
  declare(
    "string",
    fn("ip_to_string", [ipType], stringType, (value) => formatIp((value as IpValue).address)),
    fn("cidr_to_string", [cidrType], stringType, (value) => formatNetwork((value as CidrValue).network)),
  ),
];

function parseAddress(text: string): IpValue | CelError {
  const address = parseIp(text);
  if (address === undefined) {
    const why = `ParseAddr(${goQuote(text)}): ${addressComplaint(text)}`;
    return new CelError(`IP Address ${goQuote(text)} parse error during conversion from string: ${why}`);
  }
  if (address.zone !== undefined) return new CelError(`IP address ${goQuote(text)} with zone value is not allowed`);
  if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new IpValue(address);
}

/** What Go's reader says about the mistakes that people make. */
function addressComplaint(text: string): string {
  const fields = text.split(".");
  if (text.includes(":") || fields.length === 1) return "unable to parse IP";
  if (fields.some((field) => /^0\d/.test(field))) return "IPv4 field has octet with leading zero";
  if (fields.some((field) => /^\d+$/.test(field) && Number(field) > 255)) return "IPv4 field has value >255";
  const wrong = /[^0-9.]/.exec(text);
  if (wrong !== null) return `unexpected character (at ${goQuote(text.slice(wrong.index))})`;
  return fields.length < 4 ? "IPv4 address too short" : "IPv4 address too long";
}

function parseNetwork(text: string): CidrValue | CelError {
  const network = parseCidr(text);
  const prefix = "network address parse error during conversion from string: ";
  if (network === undefined) return new CelError(`${prefix}${prefix}netip.ParsePrefix(${goQuote(text)}): no '/'`);
  if (isMapped(network.address))
    return new CelError(`${prefix}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new CidrValue(network);
}

function isCanonical(text: CelValue): CelValue {
  const parsed = parseAddress(text as string);
  return parsed instanceof CelError ? parsed : formatIp(parsed.address) === text;
}

function holdsIp(cidr: CelValue, ip: CelValue): CelValue {
  return ip instanceof IpValue ? containsIp((cidr as CidrValue).network, ip.address) : noSuchOverload;
}

function holdsCidr(cidr: CelValue, other: CelValue): CelValue {
  if (!(other instanceof CidrValue)) return noSuchOverload;
  const { network } = cidr as CidrValue;
  return network.prefixLength <= other.network.prefixLength && containsIp(network, other.network.address);
}

function masked(cidr: CelValue): CelValue {
  const { address, prefixLength } = (cidr as CidrValue).network;
  return new CidrValue({ address: maskIp(address, prefixLength), prefixLength });
}

const formatNetwork = ({ address, prefixLength }: IpNetwork): string => `${formatIp(address)}/${prefixLength}`;

const startsWith = (address: IpAddress, prefix: bigint, length: number): boolean =>
  address.bits >> BigInt(widthOf(address) - length) === prefix;

function isLoopback(address: IpAddress): boolean {
  return address.family === 4 ? startsWith(address, 127n, 8) : address.bits === 1n;
}

function isLinkLocalMulticast(address: IpAddress): boolean {
  return address.family === 4 ? startsWith(address, 0xe00000n, 24) : ((address.bits >> 112n) & 0xff0fn) === 0xff02n;
}

function isLinkLocalUnicast(address: IpAddress): boolean {
  return address.family === 4 ? startsWith(address, 0xa9fen, 16) : startsWith(address, 0x3fan, 10);
}

function isGlobalUnicast(address: IpAddress): boolean {
  const isMulticast = address.family === 4 ? startsWith(address, 0xen, 4) : startsWith(address, 0xffn, 8);
  const isBroadcast = address.family === 4 && address.bits === 0xffffffffn;
  return address.bits !== 0n && !isBroadcast && !isLoopback(address) && !isMulticast && !isLinkLocalUnicast(address);
}

/** Two byte strings of 4 or 16 bytes are compared; a network inside a network needs one more look, a text its reading. */
function containsCost(isText: boolean, isNetwork: boolean): Pick<Overload, "cost" | "estimate"> {
  const compared = times({ min: 8, max: 32 }, textFactor);
  const again = isNetwork ? add(times({ min: 4, max: 16 }, textFactor), fixed(1)) : fixed(0);
  return {
    cost: ([cidr = null, other = null]) => {
      const size = sizeOf(cidr);
      const reading = isText ? Math.ceil(sizeOf(other) * textFactor) : 0;
      return Math.ceil(2 * size * textFactor) + (isNetwork ? Math.ceil(size * textFactor) + 1 : 0) + reading;
    },
    estimate: ({ args: [other] }) => ({
      cost: add(compared, again, isText && other ? times(other.size, textFactor) : fixed(0)),
    }),
  };
}
