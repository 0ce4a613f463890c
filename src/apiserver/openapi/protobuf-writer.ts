/** Writes protobuf messages: each function gives the bytes of one field, empty when there is nothing to write. */
export type Bytes = Uint8Array;

const none = new Uint8Array();

export const text = (field: number, value: string | undefined): Bytes =>
  value === undefined || value === "" ? none : message(field, Buffer.from(value));

export const flag = (field: number, value: boolean | undefined): Bytes =>
  value ? Buffer.concat([varint(field * 8), varint(1)]) : none;

export const integer = (field: number, value: number | undefined): Bytes =>
  value === undefined ? none : Buffer.concat([varint(field * 8), varint(value)]);

export function double(field: number, value: number | undefined): Bytes {
  if (value === undefined) return none;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint(field * 8 + 1), bytes]);
}

/** A message inside another one; written even when it is empty. */
export function message(field: number, ...parts: readonly Bytes[]): Bytes {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([varint(field * 8 + 2), varint(length), ...parts]);
}

function varint(value: number): Bytes {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
