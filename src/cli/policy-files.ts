import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import type { PolicyFile } from "../rego/load.ts";
import { Failure } from "./failure.ts";
import { whyUnreadable } from "./unreadable.ts";

/** Policies and data as `opa` reads them: files as they are, folders with everything below them but what is ignored. */
export function readPolicyFiles(paths: readonly string[], ignored: readonly string[] = []): readonly PolicyFile[] {
  return paths.flatMap((path) => {
    try {
      return statSync(path).isDirectory() ? filesBelow(path, [], ignored) : [read(path, [])];
    } catch (error) {
      throw new Failure(`${path} cannot be read: ${whyUnreadable(error)}`);
    }
  });
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
