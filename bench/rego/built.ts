/** Peers that are no dependency of the project: built or installed once into a cache folder outside it, and reused. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const cacheFolder = join(homedir(), ".cache", "capstan-opa");

/** The versions that are compared. */
export const versions = { opa: "v1.22.0", regorus: "0.14.1", opaWasm: "1.10.0" } as const;

export interface Recipe {
  readonly name: string;
  /** The files to start from, by path. */
  readonly files: { readonly [path: string]: string };
  readonly commands: readonly (readonly [command: string, ...args: string[]])[];
  /** What the commands leave behind, relative to the folder. */
  readonly result: string;
}

/** The path of the result, or undefined with the reason printed. */
export function build({ name, files, commands, result }: Recipe): string | undefined {
  const hash = createHash("sha256")
    .update(JSON.stringify([files, commands, result]))
    .digest("hex")
    .slice(0, 12);
  const kept = join(cacheFolder, `${name}-${hash}`);
  if (existsSync(join(kept, result))) return join(kept, result);
  console.log(`building ${name} once (this may take some minutes) …`);
  const folder = mkdtempSync(join(tmpdir(), `capstan-${name}-`));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    for (const [command, ...args] of commands) {
      execFileSync("nice", ["-n", "10", command, ...args], {
        cwd: folder,
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...process.env, GOBIN: folder },
      });
    }
    mkdirSync(join(kept, dirname(result)), { recursive: true });
    // Node modules need their folder, binaries only themselves.
    const whole = result.startsWith("node_modules");
    if (whole) rmSync(kept, { recursive: true, force: true });
    moveAcross(whole ? folder : join(folder, result), whole ? kept : join(kept, result));
    return join(kept, result);
  } catch (error) {
    console.log(`${name} is left out: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The cache may be on another file system than the place for temporary files. */
function moveAcross(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    execFileSync("cp", ["-r", from, to]);
  }
}
