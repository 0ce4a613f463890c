/** Small Go programs around the libraries whose behaviour ours must have, built once and kept outside the project. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

export interface GoPeer {
  /** Names the folder of the cache. */
  readonly name: string;
  readonly program: string;
  /** The module that the program is about, such as `example.org/library v1.2.3`. */
  readonly requires: string;
}

/** The path of the binary, or why there is none. */
export function buildGoPeer({ name, program, requires }: GoPeer): string {
  const cache = join(homedir(), ".cache", `capstan-${name}`);
  const hash = createHash("sha256")
    .update(program + requires)
    .digest("hex")
    .slice(0, 12);
  const binary = join(cache, `peer-${hash}`);
  if (existsSync(binary)) return binary;
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
  } catch {
    return "Go is not installed";
  }
  const folder = mkdtempSync(join(tmpdir(), `capstan-${name}-peer-`));
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(folder, "main.go"), program);
    writeFileSync(join(folder, "go.mod"), `module peer\n\ngo 1.25\n\nrequire ${requires}\n`);
    for (const args of [
      ["mod", "tidy"],
      ["build", "-p", "1", "-o", join(folder, "peer"), "."],
    ]) {
      execFileSync("nice", ["-n", "15", "go", ...args], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    }
    renameSync(join(folder, "peer"), binary);
    return binary;
  } catch (error) {
    return `${requires} could not be built: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
