import { crc32, deflateRawSync } from "node:zlib";

/** Makes small jars for the demo and for tests, as `jar` makes them (sizes behind the data) or as `zip` does (sizes before it). */
export interface ZipOptions {
  readonly sizesBehind?: boolean;
  readonly stored?: boolean;
}

export function zip(files: Readonly<Record<string, string | Uint8Array>>, options: ZipOptions = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const data = options.stored ? content : deflateRawSync(content);
    const sums = [crc32(content), data.length, content.length];
    const known = options.sizesBehind ? [0, 0, 0] : sums;
    const head = fields([20, options.sizesBehind ? 8 : 0, options.stored ? 0 : 8, 0, 0], known, name.length);
    const behind = options.sizesBehind ? words([0x08074b50, ...sums]) : Buffer.alloc(0);
    const local = Buffer.concat([words([0x04034b50]), head, Buffer.from(name), data, behind]);
    const entry = fields([20, 20, options.sizesBehind ? 8 : 0, options.stored ? 0 : 8, 0, 0], sums, name.length);
    directory.push(Buffer.concat([words([0x02014b50]), entry, Buffer.alloc(10), words([offset]), Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const count = directory.length;
  const end = Buffer.concat([
    words([0x06054b50]),
    halves([0, 0, count, count]),
    words([list.length, offset]),
    halves([0]),
  ]);
  return Buffer.concat([...parts, list, end]);
}

const fields = (before: readonly number[], sums: readonly number[], nameLength: number): Buffer =>
  Buffer.concat([halves(before), words(sums), halves([nameLength, 0])]);

function halves(values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) buffer.writeUInt16LE(value, index * 2);
  return buffer;
}

function words(values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) buffer.writeUInt32LE(value >>> 0, index * 4);
  return buffer;
}
