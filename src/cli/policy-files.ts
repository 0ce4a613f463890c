import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import type { PolicyFile } from "../rego/load.ts";
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
      return statSync(path).isDirectory() ? filesBelow(path, dataPath, ignored) : [read(path, dataPath)];
    } catch (error) {
      if (isMissing(error)) throw new MissingFile(path);
      throw new Failure(`${path} cannot be read: ${whyUnreadable(error)}`);
    }
  });
}

/** A bundle's folder: policies, and documents only from files that are called `data`. */
export function readBundle(folder: string, ignored: readonly string[] = []): readonly PolicyFile[] {
  return readPolicyFiles([folder], ignored).filter(({ path }) => /\.rego$|(^|[/\\])data\.(json|ya?ml)$/.test(path));
}

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
    .filter(({ name }) => !name.startsWith(".") && !ignored.some((pattern) => matchesGlob(name, pattern)))
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
