/** Reading of DER (ASN.1): enough for certificates, requests and keys. */

export class DerFault extends Error {}

export interface DerNode {
  /** The class and constructed bits and the number, as in the first byte. */
  readonly tag: number;
  readonly content: Uint8Array;
  /** Header and content. */
  readonly raw: Uint8Array;
}

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The node at the start, and what follows it. */
export function readNode(bytes: Uint8Array): { readonly node: DerNode; readonly rest: Uint8Array } {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) throw new DerFault("truncated");
  let length = first;
  let header = 2;
  if (first & 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerFault("bad length");
    length = 0;
    for (let index = 0; index < count; index++) length = length * 256 + (bytes[2 + index] ?? 0);
    header = 2 + count;
  }
  if (header + length > bytes.length) throw new DerFault("truncated");
  return {
    node: { tag, content: bytes.subarray(header, header + length), raw: bytes.subarray(0, header + length) },
    rest: bytes.subarray(header + length),
  };
}

export function children(node: DerNode): readonly DerNode[] {
  const nodes: DerNode[] = [];
  for (let rest = node.content; rest.length > 0; ) {
    const next = readNode(rest);
    nodes.push(next.node);
    rest = next.rest;
  }
  return nodes;
}

export function expectNode(node: DerNode | undefined, tag: number): DerNode {
  if (node?.tag !== tag) throw new DerFault("unexpected tag");
  return node;
}

export function integerOfNode(node: DerNode): bigint {
  let value = 0n;
  for (const byte of node.content) value = (value << 8n) | BigInt(byte);
  const isNegative = ((node.content[0] ?? 0) & 0x80) !== 0;
  return isNegative ? value - (1n << BigInt(node.content.length * 8)) : value;
}

export function oidOf(node: DerNode): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  for (const byte of node.content) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (numbers.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      numbers.push(first, value - first * 40);
    } else numbers.push(value);
    value = 0;
  }
  return numbers;
}

/** The bytes of a bit string without its count of unused bits. */
export function bitStringBytes(node: DerNode): Uint8Array {
  return node.content.subarray(1);
}

export function textOf(node: DerNode): string {
  const bytes = Buffer.from(node.content);
  if (node.tag === derTags.bmpString) {
    let text = "";
    for (let index = 0; index + 1 < bytes.length; index += 2) text += String.fromCharCode(bytes.readUInt16BE(index));
    return text;
  }
  return bytes.toString(node.tag === derTags.t61String ? "latin1" : "utf8");
}

/** RFC 3339, as Go prints it. */
export function timeOf(node: DerNode): string {
  const text = Buffer.from(node.content).toString("latin1");
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?Z$/.exec(text);
  if (match === null) throw new DerFault("bad time");
  const [, yearText = "", month, day, hour, minute, second = "00"] = match;
  const short = Number(yearText);
  const year = yearText.length === 4 ? short : short >= 50 ? 1900 + short : 2000 + short;
  return `${String(year).padStart(4, "0")}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
