import { gunzipSync } from "node:zlib";

/** A file in an archive. */
export interface ArchivedFile {
  /** As it is in the archive, without a leading `./` or `/`. */
  readonly path: string;
  readonly content: Buffer;
}

/** A bundle may unpack to no more than this. */
export const maxArchiveBytes = 512 * 1024 * 1024;

const blockBytes = 512;

/** The files of a compressed tar archive; throws `RangeError` if it is not one. */
export function readArchive(compressed: Uint8Array): readonly ArchivedFile[] {
  const bytes = gunzip(compressed);
  const files: ArchivedFile[] = [];
  let longName: string | undefined;
  for (let at = 0; at + blockBytes <= bytes.length; ) {
    const header = bytes.subarray(at, at + blockBytes);
    if (header.every((byte) => byte === 0)) break;
    const size = sizeIn(header);
    const content = bytes.subarray(at + blockBytes, at + blockBytes + size);
    if (content.length < size) throw new RangeError("unexpected end of the archive");
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
    const type = String.fromCharCode(header[156] ?? 0);
    // Names that are too long for a header come in an entry of their own, before the file.
    if (type === "L") longName = text(content);
    else if (type === "x") longName = /^\d+ path=(.*)$/m.exec(content.toString("utf8"))?.[1] ?? longName;
    else {
      if (type === "0" || type === "\0") files.push({ path: plainPath(longName ?? nameIn(header)), content });
      longName = undefined;
    }
  }
  return files;
}

function gunzip(compressed: Uint8Array): Buffer {
  try {
    return gunzipSync(compressed, { maxOutputLength: maxArchiveBytes });
  } catch (error) {
    throw new RangeError(`not a compressed archive: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function nameIn(header: Buffer): string {
  const prefix = header.subarray(257, 262).toString() === "ustar" ? text(header.subarray(345, 500)) : "";
  const name = text(header.subarray(0, 100));
  return prefix === "" ? name : `${prefix}/${name}`;
}

function sizeIn(header: Buffer): number {
  const size = Number.parseInt(text(header.subarray(124, 136)).trim() || "0", 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new RangeError("not a tar archive");
  return size;
}

/** Up to the first zero byte. */
function text(field: Buffer): string {
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? field.length : end).toString("utf8");
}

function plainPath(path: string): string {
  return path.replace(/^(\.?\/)+/, "");
}
