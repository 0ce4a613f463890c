import { readFileSync } from "node:fs";
import { bundle } from "../bundle.mjs";
import { ociArchive } from "./oci.ts";
import { rootFiles, userId, workFolder } from "./root-files.ts";

export const packageVersion = (): string =>
  (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version;

/** An OCI archive of what is in this checkout, under the name given. The same sources give the same bytes. */
export async function capstanImage(reference: string, compression = 9): Promise<Buffer> {
  await bundle();
  return ociArchive({
    reference,
    compression,
    files: rootFiles(),
    config: {
      User: `${userId}:${userId}`,
      Env: ["PATH=/usr/local/bin", "NODE_ENV=production", "HOME=/tmp"],
      Entrypoint: ["capstan"],
      WorkingDir: workFolder,
      Labels: {
        "org.opencontainers.image.title": "capstan",
        "org.opencontainers.image.version": packageVersion(),
        "org.opencontainers.image.licenses": "Apache-2.0",
      },
    },
  });
}
