import { containsIp, type IpAddress, isMapped, parseCidr, parseIp } from "../../kube/ip.ts";

/**
 * Whether an address that a user wrote may be fetched from inside the cluster. Everything that only the cluster can reach
 * is refused, by name here and by number when the name has been looked up.
 */
export function refusalOfUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return "it is not a URL";
  const { protocol, hostname, username, password } = new URL(text);
  if (protocol !== "https:") return "only https:// is fetched";
  if (username !== "" || password !== "") return "it carries credentials";
  if (hostname === "") return "it names no host";
  const name = hostname.replace(/\.$/, "").toLowerCase();
  const bare = name.replace(/^\[|\]$/g, "");
  // The URL parser has already turned 2130706433, 0x7f.1 and 017700000001 into dotted form.
  if (parseIp(bare)) return isPublicAddress(bare) ? undefined : `${bare} is not a public address`;
  if (!name.includes(".")) return `${name} is a name inside the cluster`;
  const inside = insideSuffixes.find((suffix) => name === suffix.slice(1) || name.endsWith(suffix));
  return inside === undefined ? undefined : `names that end in ${inside} are inside the cluster`;
}

/** For the address that a name stands for, asked at the moment of connecting. */
export function isPublicAddress(text: string): boolean {
  const address = parseIp(text.replace(/%.*$/, ""));
  if (!address) return false;
  const plain: IpAddress = isMapped(address) ? { family: 4, bits: address.bits & 0xffff_ffffn } : address;
  return !privateNetworks.some((network) => network.address.family === plain.family && containsIp(network, plain));
}

const insideSuffixes = [
  ".svc",
  ".cluster.local",
  ".local",
  ".internal",
  ".localhost",
  ".localdomain",
  ".home.arpa",
  ".in-addr.arpa",
];

const privateNetworks = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
].flatMap((text) => parseCidr(text) ?? []);
