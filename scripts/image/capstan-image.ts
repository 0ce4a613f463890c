import { readFileSync } from "node:fs";
import { bundle } from "../bundle.mjs";
import { ociArchive } from "./oci.ts";
import { rootFiles, userId, workFolder } from "./root-files.ts";

export const packageVersion = (): string =>
  (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version;

/** An OCI archive of what is in this checkout, under the name given. The same sources give the same bytes. */
export async function capstanImage(reference: string, compression = 9): Promise<Buffer> {
  await bundle();
  return ociArchive({ reference, compression, files: rootFiles(), config: { ...imageConfig() } });
}

/**
 * Node's own permissions on top of the container's: no other program, no native code, and writing only where it is needed.
 * The solver has a thread for large questions, which may do no more than the rest.
 */
const permissions = [
  "--permission",
  "--allow-worker",
  // It warns of threads with every start; the permissions hold for them, which a test shows.
  "--disable-warning=PERM0006",
  "--allow-fs-read=*",
  "--allow-fs-write=/tmp",
  // Where an action's Job says how it went, and where a server's jars are put.
  "--allow-fs-write=/dev/termination-log",
  "--allow-fs-write=/data",
];

export const imageConfig = () => ({
  User: `${userId}:${userId}`,
  Env: ["PATH=/usr/local/bin", "NODE_ENV=production", "HOME=/tmp", `NODE_OPTIONS=${permissions.join(" ")}`],
  Entrypoint: ["capstan"],
  WorkingDir: workFolder,
  Labels: {
    "org.opencontainers.image.title": "capstan",
    "org.opencontainers.image.version": packageVersion(),
    "org.opencontainers.image.licenses": "Apache-2.0",
  },
});
