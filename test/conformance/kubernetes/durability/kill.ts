// Starts a process that writes and says what was acknowledged, and kills it with -9 in the middle of that.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** One file starts four times as fast as the sources do, and a hundred starts are many. */
export async function bundleWriter(directory: string, source: string): Promise<string> {
  const input = fileURLToPath(new URL(source, import.meta.url));
  const built = await rolldown({ input, platform: "node", logLevel: "silent" });
  await built.write({ dir: directory, format: "esm", entryFileNames: "writer.mjs" });
  await built.close();
  return join(directory, "writer.mjs");
}

/** Counted in writes, so that a busy machine kills in the middle of as many of them as an idle one. */
export interface Instant {
  readonly afterWrites: number;
  readonly andMs: number;
}

export const drawInstant = (random: () => number, atLeast: number, within: number): Instant => ({
  afterWrites: atLeast + Math.floor(random() * within),
  andMs: random() * 10,
});

/** A line of the writer: what was acknowledged to it. */
export interface Said {
  readonly name?: string;
  readonly value?: string | null;
  readonly version?: string;
}

export async function writeUntilKilled(
  args: readonly string[],
  { afterWrites, andMs }: Instant,
  hear: (said: Said) => void,
): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let writes = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    // The last line of a killed process may be cut off; what was cut off was not told to anybody.
    const said = parse(line);
    if (said?.name === undefined) continue;
    writes++;
    if (writes === afterWrites) setTimeout(() => child.kill("SIGKILL"), andMs);
    hear(said);
  }
}

function parse(line: string): Said | undefined {
  try {
    return JSON.parse(line) as Said;
  } catch {
    return undefined;
  }
}
