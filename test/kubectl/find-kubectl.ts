// Every kubectl that lies beside the one on the PATH: several versions make a compatibility matrix for free.
import { execFileSync } from "node:child_process";
import { accessSync, constants, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Kubectl {
  /** `v1.33.1`. */
  readonly version: string;
  readonly file: string;
}

export function findKubectls(path = process.env["PATH"] ?? ""): readonly Kubectl[] {
  const first = path
    .split(":")
    .map((directory) => join(directory, "kubectl"))
    .find(isExecutable);
  if (first === undefined) return [];
  const directory = dirname(realpathSync(first));
  const found = new Map<string, Kubectl>();
  for (const name of readdirSync(directory).sort()) {
    if (!/^kubectl(\.\d+\.\d+)?$/.test(name)) continue;
    const file = join(directory, name);
    const version = versionOf(file);
    // A dispatcher answers with the version that it would run: the file with a version in its name is the real one.
    if (version !== undefined) found.set(version, { version, file });
  }
  return [...found.values()];
}

function versionOf(file: string): string | undefined {
  try {
    const output = execFileSync(file, ["version", "--client", "--output=json"], {
      encoding: "utf8",
      timeout: 20_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return (JSON.parse(output) as { clientVersion: { gitVersion: string } }).clientVersion.gitVersion.replace(
      /-.*/,
      "",
    );
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
