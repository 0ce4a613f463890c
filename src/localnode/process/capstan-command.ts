import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Puts `capstan` into a folder that comes first on the PATH of every process: this very program, whatever it was started as. */
export function installCommand(folder: string, command: readonly string[]): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const file = join(folder, "capstan");
  writeFileSync(file, `#!/bin/sh\nexec ${command.map(quoted).join(" ")} "$@"\n`);
  chmodSync(file, 0o755);
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** `capstan:1.2.3`, with or without a registry in front of it. */
export const isOwnImage = (image: string | undefined, own: string): boolean =>
  image !== undefined && (image === own || image.endsWith(`/${own}`));
