/** Entries of a tar archive, written so that the same entries always give the same bytes: no times, no owners. */
export type TarEntry =
  | { readonly kind: "file"; readonly path: string; readonly mode: number; readonly body: Uint8Array }
  | { readonly kind: "folder"; readonly path: string; readonly mode: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

const blockSize = 512;

export function tar(entries: readonly TarEntry[]): Buffer {
  const parts: Buffer[] = [];
  for (const entry of entries) {
    const body = entry.kind === "file" ? Buffer.from(entry.body) : Buffer.alloc(0);
    parts.push(header(entry, body.length), body, Buffer.alloc((blockSize - (body.length % blockSize)) % blockSize));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * blockSize)]);
}

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(blockSize);
  const { name, prefix } = splitPath(entry.path);
  const mode = entry.kind === "link" ? 0o777 : entry.mode;
  block.write(name, 0, 100, "utf8");
  block.write(`${mode.toString(8).padStart(7, "0")}\0`, 100, "ascii");
  block.write("0000000\0", 108, "ascii");
  block.write("0000000\0", 116, "ascii");
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124, "ascii");
  block.write("00000000000\0", 136, "ascii");
  block.write("        ", 148, "ascii");
  block.write({ file: "0", link: "2", folder: "5" }[entry.kind], 156, "ascii");
  if (entry.kind === "link") block.write(entry.target, 157, 100, "utf8");
  block.write("ustar\0" + "00", 257, "ascii");
  block.write(prefix, 345, 155, "utf8");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
  return block;
}

/** Names longer than 100 bytes are cut at a slash into prefix and name. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: "" };
  const at = path.lastIndexOf("/", 155);
  const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
  if (at < 0 || Buffer.byteLength(name) > 100) throw new RangeError(`${path} is too long for a tar archive`);
  return { name, prefix };
}
