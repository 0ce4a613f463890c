/** UUIDs and URIs. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { numberFromBigInt } from "../values/number.ts";
import { canonicalText, RegoObject, type Value } from "../values/value.ts";
import { parseUrl, splitHost, UrlFault } from "./go-url.ts";
import { type Builtins, operand, stringAt } from "./operands.ts";

export const identifierBuiltins: Builtins = {
  "uuid.rfc4122": (args, machine) => {
    const key = `uuid.rfc4122 ${canonicalText(operand(args, 0))}`;
    const known = machine.onceCache.get(key);
    if (known !== undefined) return known;
    const value = machine.env.uuid();
    machine.onceCache.set(key, value);
    return value;
  },
  "uuid.parse": (args) => {
    const hex = uuidHex(stringAt(args, 0));
    return hex === undefined ? undefined : describeUuid(hex);
  },
  "uri.parse": (args) => {
    try {
      return describeUri(stringAt(args, 0));
    } catch (error) {
      if (error instanceof UrlFault) throw new BuiltinFault(error.message);
      throw error;
    }
  },
  "uri.is_valid": (args) => {
    const [text] = args;
    if (typeof text !== "string" || text === "") return false;
    try {
      parseUrl(text);
      return true;
    } catch {
      return false;
    }
  },
};

/** Plain, braced, `urn:uuid:` and without dashes. */
function uuidHex(text: string): string | undefined {
  let body = text;
  if (/^urn:uuid:/i.test(body) && body.length === 45) body = body.slice(9);
  else if (body.length === 38) body = body.slice(1, -1);
  if (/^[0-9a-f]{32}$/i.test(body)) return body.toLowerCase();
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(body)) {
    return body.replaceAll("-", "").toLowerCase();
  }
  return undefined;
}

function describeUuid(hex: string): Value {
  const result = new RegoObject();
  const version = Number.parseInt(hex[12] ?? "0", 16);
  const variantByte = Number.parseInt(hex.slice(16, 18), 16);
  result.set("version", version);
  result.set("variant", variantName(variantByte));
  if (version !== 1 && version !== 2) return result;
  const timeLow = version === 2 ? 0n : BigInt(`0x${hex.slice(0, 8)}`);
  const ticks =
    ((BigInt(`0x${hex.slice(12, 16)}`) & 0x0fffn) << 48n) |
    (BigInt(`0x${hex.slice(8, 12)}`) << 32n) |
    (version === 2 ? BigInt(`0x${hex.slice(0, 8)}`) : timeLow);
  // The clock starts at the Gregorian reform and ticks in 100 ns.
  result.set("time", numberFromBigInt(BigInt.asIntN(64, (ticks - 0x01b21dd213814000n) * 100n)));
  result.set("clocksequence", Number.parseInt(hex.slice(16, 20), 16) & 0x3fff);
  const node = hex.slice(20);
  result.set("nodeid", (node.match(/../g) ?? []).join("-"));
  result.set("macvariables", macVariables(Number.parseInt(node.slice(0, 2), 16)));
  if (version === 2) {
    result.set("id", Number.parseInt(hex.slice(0, 8), 16));
    result.set(
      "domain",
      ["Person", "Group", "Org"][Number.parseInt(hex.slice(18, 20), 16)] ??
        `Domain${Number.parseInt(hex.slice(18, 20), 16)}`,
    );
  }
  return result;
}

function variantName(byte: number): string {
  if ((byte & 0xc0) === 0x80) return "RFC4122";
  if ((byte & 0xe0) === 0xc0) return "Microsoft";
  if ((byte & 0xe0) === 0xe0) return "Future";
  return "Reserved";
}

function macVariables(byte: number): string {
  const scope = (byte & 2) === 0 ? "global" : "local";
  return `${scope}:${(byte & 1) === 0 ? "unicast" : "multicast"}`;
}

function describeUri(text: string): Value {
  const url = parseUrl(text);
  const { hostname, port } = splitHost(url.host);
  const result = new RegoObject();
  const fields: readonly (readonly [string, string])[] = [
    ["scheme", url.scheme],
    ["hostname", hostname],
    ["port", port],
    ["path", url.path],
    ["raw_path", url.path === "" ? "" : url.rawPath === "" ? url.path : url.rawPath],
    ["raw_query", url.rawQuery],
    ["fragment", url.fragment],
  ];
  for (const [name, value] of fields) if (value !== "") result.set(name, value);
  return result;
}
