import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import type { PolicyFile } from "../rego/load.ts";
import { type ArchivedFile, readArchive } from "./bundle-archive.ts";
import { Failure } from "./failure.ts";
import { whyUnreadable } from "./unreadable.ts";

/**
 * Policies and data as `opa` reads them: files as they are, folders with everything below them but what is ignored.
 * `a.b:file.json` puts a document below `data.a.b`.
 */
export function readPolicyFiles(paths: readonly string[], ignored: readonly string[] = []): readonly PolicyFile[] {
  return paths.flatMap((given) => {
    const [, prefix = "", path = given] = /^([\w.]+):(.+)$/.exec(given) ?? [];
    const dataPath = prefix === "" ? [] : prefix.split(".");
    try {
      if (isArchive(path)) return readArchivedBundle(path, dataPath, ignored);
      return statSync(path).isDirectory() ? filesBelow(path, dataPath, ignored) : [read(path, dataPath)];
    } catch (error) {
      if (isMissing(error)) throw new MissingFile(path);
      if (error instanceof Failure) throw error;
      throw new Failure(`${path} cannot be read: ${whyUnreadable(error)}`);
    }
  });
}

/** A bundle, as a folder or an archive: policies, and documents only from files that are called `data`. */
export function readBundle(path: string, ignored: readonly string[] = []): readonly PolicyFile[] {
  return readPolicyFiles([path], ignored).filter((file) => isOfBundle(file.path));
}

const isArchive = (path: string): boolean => path.endsWith(".tar.gz") || path.endsWith(".tgz");

const isOfBundle = (path: string): boolean => /\.rego$|(^|[/\\])data\.(json|ya?ml)$/.test(path);

/** A file in an archive is shown as if the archive were a folder. */
function readArchivedBundle(
  archive: string,
  dataPath: readonly string[],
  ignored: readonly string[],
): readonly PolicyFile[] {
  return unpack(archive)
    .filter(({ path }) => isOfBundle(path) && !path.split("/").some((name) => isIgnored(name, ignored)))
    .sort((left, right) => (left.path < right.path ? -1 : 1))
    .map(({ path, content }) => ({
      path: `${archive}/${path}`,
      content: content.toString("utf8"),
      dataPath: [...dataPath, ...path.split("/").slice(0, -1)],
    }));
}

function unpack(archive: string): readonly ArchivedFile[] {
  const bytes = readFileSync(archive);
  try {
    return readArchive(bytes);
  } catch (error) {
    if (error instanceof RangeError) throw new Failure(`${archive} cannot be unpacked: ${error.message}`);
    throw error;
  }
}

const isIgnored = (name: string, ignored: readonly string[]): boolean =>
  ignored.some((pattern) => matchesGlob(name, pattern));

/** Reported in the words and with the exit code of `opa`. */
export class MissingFile extends Failure {
  constructor(path: string) {
    super(`stat ${path}: no such file or directory`);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function filesBelow(folder: string, dataPath: readonly string[], ignored: readonly string[]): PolicyFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith(".") && !isIgnored(name, ignored))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(path, [...dataPath, entry.name], ignored);
      return /\.(rego|json|ya?ml)$/.test(entry.name) ? [read(path, dataPath)] : [];
    });
}

const read = (path: string, dataPath: readonly string[]): PolicyFile => ({
  path,
  content: readFileSync(path, "utf8"),
  dataPath,
});
