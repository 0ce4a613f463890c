/** ASN.1 values as DER bytes: the few types of which certificates are made, written and read. */
export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => element(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Uint8Array => element(0x31, ...parts);
export const octetString = (bytes: Uint8Array): Uint8Array => element(0x04, bytes);
export const utf8String = (text: string): Uint8Array => element(0x0c, Buffer.from(text, "utf8"));
export const boolean = (value: boolean): Uint8Array => element(0x01, Uint8Array.of(value ? 0xff : 0));
/** `[n]` in a schema: with parts inside, or as another name for a primitive value. */
export const tagged = (number: number, ...parts: readonly Uint8Array[]): Uint8Array => element(0xa0 | number, ...parts);
export const implicit = (number: number, bytes: Uint8Array): Uint8Array => element(0x80 | number, bytes);

/** A whole number of any size, most significant byte first and not negative. */
export function integer(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  return (digits[0] ?? 0) >= 0x80 ? element(0x02, Uint8Array.of(0), digits) : element(0x02, digits);
}

export const bitString = (bytes: Uint8Array, unusedBits = 0): Uint8Array =>
  element(0x03, Uint8Array.of(unusedBits), bytes);

/** `1.2.840.10045.2.1` */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes: number[] = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return element(0x06, Uint8Array.from(bytes));
}

/** Certificates must use the short form until the end of 2049 and the long one after. */
export function time(moment: Date): Uint8Array {
  const digits = moment
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:T]/g, "");
  return moment.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2)))
    : element(0x18, Buffer.from(digits));
}

function element(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.of(tag), lengthBytes(length), ...parts]);
}

function lengthBytes(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const bytes: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left & 0xff);
  return Uint8Array.of(0x80 | bytes.length, ...bytes);
}

export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  /** Tag and length included. */
  readonly whole: Uint8Array;
}

/** The elements that stand one after the other in these bytes. */
export function readElements(bytes: Uint8Array): readonly DerElement[] {
  const found: DerElement[] = [];
  for (let start = 0; start < bytes.length; ) {
    const tag = bytes[start] ?? 0;
    const first = bytes[start + 1];
    if (first === undefined) throw new RangeError("DER: the bytes end inside an element");
    const longForm = first >= 0x80 ? first & 0x7f : 0;
    let length = first;
    if (longForm > 0) {
      length = 0;
      for (const digit of bytes.subarray(start + 2, start + 2 + longForm)) length = length * 256 + digit;
    }
    const begin = start + 2 + longForm;
    if (begin + length > bytes.length) throw new RangeError("DER: the bytes end inside an element");
    found.push({ tag, content: bytes.subarray(begin, begin + length), whole: bytes.subarray(start, begin + length) });
    start = begin + length;
  }
  return found;
}
