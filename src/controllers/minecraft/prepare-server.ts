import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { download } from "./download.ts";
import type { Outside } from "./outside.ts";
import { type ListedPlugin, readPluginList } from "./plugin-list.ts";

/** What runs before the server in its pod: puts exactly the listed jars into the plugins folder, and switches RCON on. */
export interface PrepareOptions {
  /** The list, as a file. */
  readonly listPath: string;
  /** The server's folder. */
  readonly dataDir: string;
  readonly outside: Outside;
  readonly rcon?: { readonly port: string; readonly password: string };
  readonly say: (line: string) => void;
}

/** Which jars are ours, so that a jar that somebody put there by hand is never touched. */
const stateFile = ".capstan-plugins.json";

export async function prepareServer({ listPath, dataDir, outside, rcon, say }: PrepareOptions): Promise<void> {
  const wanted = readPluginList(await readFile(listPath, "utf8")).filter(({ file }) => isFileName(file));
  const folder = join(dataDir, "plugins");
  await mkdir(folder, { recursive: true });
  const ours = await readState(folder);
  for (const plugin of wanted) {
    const installed = ours.find(({ file }) => file === plugin.file);
    if (
      installed &&
      installed.version === plugin.version &&
      (await isIntact(join(folder, plugin.file), installed.sha256))
    ) {
      say(`${plugin.name} ${plugin.version} is there`);
      continue;
    }
    const sha256 = await install(plugin, folder, outside);
    // Written after each jar: whatever happens next, we know what is ours.
    await writeState(folder, [
      ...ours.filter(({ file }) => file !== plugin.file),
      { file: plugin.file, version: plugin.version, sha256 },
    ]);
    ours.splice(0, ours.length, ...(await readState(folder)));
    // A former operator left updates here, which Paper would prefer.
    await rm(join(folder, "update", plugin.file), { force: true });
    say(`${plugin.name} ${plugin.version} was installed`);
  }
  for (const { file, version } of ours) {
    if (wanted.some((plugin) => plugin.file === file)) continue;
    await rm(join(folder, file), { force: true });
    await rm(join(folder, "update", file), { force: true });
    say(`${file} ${version} was removed`);
  }
  await writeState(
    folder,
    ours.filter(({ file }) => wanted.some((plugin) => plugin.file === file)),
  );
  if (rcon) await enableRcon(dataDir, rcon);
}

async function install(plugin: ListedPlugin, folder: string, outside: Outside): Promise<string> {
  const temporary = join(folder, `.${plugin.file}.part`);
  const file = await open(temporary, "w", 0o644);
  try {
    const { sha256 } = await download(plugin, outside, async (chunk) => {
      await file.write(chunk);
    });
    await file.sync();
    await file.close();
    await rename(temporary, join(folder, plugin.file));
    return sha256;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw new Error(`${plugin.name} ${plugin.version} could not be installed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

interface Installed {
  readonly file: string;
  readonly version: string;
  readonly sha256: string;
}

async function readState(folder: string): Promise<Installed[]> {
  const path = join(folder, stateFile);
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (!exists) return [];
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return Array.isArray(value)
      ? (value as Installed[]).filter(({ file }) => typeof file === "string" && isFileName(file))
      : [];
  } catch {
    // Half written by a crash of an older version: better to fetch again than to guess.
    return [];
  }
}

async function writeState(folder: string, installed: readonly Installed[]): Promise<void> {
  const temporary = join(folder, `${stateFile}.part`);
  await writeFile(temporary, `${JSON.stringify(installed, null, 2)}\n`);
  await rename(temporary, join(folder, stateFile));
}

async function isIntact(path: string, sha256: string): Promise<boolean> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  } catch {
    return false;
  }
  return hash.digest("hex") === sha256;
}

const isFileName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]*\.jar$/.test(name);

/** The image does not read RCON's settings from anywhere but this file; all other lines stay as they are. */
async function enableRcon(
  dataDir: string,
  { port, password }: { readonly port: string; readonly password: string },
): Promise<void> {
  const path = join(dataDir, "server.properties");
  const text = await readFile(path, "utf8").catch(() => "");
  const settings = new Map([
    ["enable-rcon", "true"],
    ["rcon.port", port],
    ["rcon.password", password.replace(/\\/g, "\\\\").replace(/[\r\n]/g, "")],
  ]);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const next = lines.map((line) => {
    const key = /^\s*([^#!=:\s]+)\s*[=:]/.exec(line)?.[1] ?? "";
    const value = settings.get(key);
    if (value === undefined) return line;
    settings.delete(key);
    return `${key}=${value}`;
  });
  for (const [key, value] of settings) next.push(`${key}=${value}`);
  const result = `${next.join("\n")}\n`;
  if (result === text) return;
  const temporary = `${path}.part`;
  await writeFile(temporary, result, { mode: 0o640 });
  await rename(temporary, path);
}
