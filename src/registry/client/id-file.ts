import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { IdStore } from "./registration-manager.ts";

/**
 * The id in a file, in the format that Wanaku's Java SDK writes (`<name>.wanaku.dat`, 50 bytes), so that a service that
 * moves from one to the other keeps its id: "wanaku", version and type as 32-bit numbers, and the id.
 */
export function idFile(folder: string, serviceName: string, serviceType: string | null | undefined): IdStore {
  const path = join(folder, `${serviceName.replace(/[^A-Za-z0-9._-]/g, "_")}.wanaku.dat`);
  return {
    async load() {
      const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      return bytes && decodeIdFile(bytes);
    },
    async save(id) {
      await mkdir(folder, { recursive: true });
      // Renamed into place: a crash leaves the old file or the new one, never half of one.
      await writeFile(`${path}.new`, encodeIdFile(id, serviceType));
      await rename(`${path}.new`, path);
    },
  };
}

const magic = "wanaku";
const version = 1;
const idLength = 36;
const headerLength = magic.length + 8;
const typeCodes: Readonly<Record<string, number>> = {
  "resource-provider": 1,
  "tool-invoker": 2,
  "multi-capability": 3,
  "code-execution-engine": 3,
};

export function encodeIdFile(id: string, serviceType: string | null | undefined): Uint8Array {
  if (id.length !== idLength || Buffer.byteLength(id) !== idLength)
    throw new Error(
      `the id ${JSON.stringify(id)} does not fit into the data file: it must have ${idLength} characters`,
    );
  const bytes = Buffer.alloc(headerLength + idLength);
  bytes.write(magic, 0, "latin1");
  bytes.writeInt32BE(version, magic.length);
  bytes.writeInt32BE(typeCodes[serviceType ?? ""] ?? 0, magic.length + 4);
  bytes.write(id, headerLength, "latin1");
  return bytes;
}

/** Undefined for what is no such file: a service without its id registers as a new one. */
export function decodeIdFile(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < headerLength + idLength || buffer.toString("latin1", 0, magic.length) !== magic) return undefined;
  return buffer.toString("latin1", headerLength, headerLength + idLength);
}
