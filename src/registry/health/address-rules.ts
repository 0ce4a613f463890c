import { BlockList, isIP } from "node:net";

/**
 * Where a probe may go. A registered host is a stranger's word: without this, whoever may register could make the
 * registry knock on doors inside its own network (S13).
 */
export interface AddressRules {
  isAllowed(address: string): boolean;
}

/** Everything that is not the public Internet is forbidden, except what is named, such as `10.42.0.0/16`. */
export function addressRules(allowed: readonly string[]): AddressRules {
  const exceptions = listOf(allowed);
  return {
    isAllowed(address) {
      const plain = withoutMapping(address);
      const family = isIP(plain);
      if (family === 0) return false;
      const type = family === 6 ? "ipv6" : "ipv4";
      return exceptions.check(plain, type) || !forbidden.check(plain, type);
    },
  };
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix] = range.split("/");
    const family = isIP(address);
    const length = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix);
    if (family === 0 || !Number.isInteger(length) || length < 0 || length > (family === 6 ? 128 : 32))
      throw new Error(`probe allow list: ${JSON.stringify(range)} is no address range such as 10.42.0.0/16`);
    list.addSubnet(address, length, family === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

const forbidden = listOf([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10", // shared by carriers
  "127.0.0.0/8",
  "169.254.0.0/16", // link-local, where clouds keep their metadata
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3", // multicast, reserved, broadcast
  "::/128",
  "::1/128",
  "64:ff9b::/96", // the whole IPv4 Internet behind a translator
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16", // IPv4 inside IPv6
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
]);

/** `::ffff:127.0.0.1` is 127.0.0.1, however it is written. */
function withoutMapping(address: string): string {
  const plain = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (isIP(plain) !== 6) return plain;
  const groups = expand(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && (groups[5] === 0xffff || groups[5] === 0);
  const [high = 0, low = 0] = groups.slice(6);
  if (!isMapped || (groups[5] === 0 && high === 0)) return plain;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

function expand(address: string): readonly number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`
    : address;
  const [left = "", right] = text.split("::");
  const parse = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const before = parse(left);
  const after = right === undefined ? [] : parse(right);
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}
