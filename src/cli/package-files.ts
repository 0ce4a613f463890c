import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Assets } from "../dashboard/handler.ts";
import type { KubeObject } from "../kube/object.ts";
import { Failure } from "./failure.ts";
import { readManifests } from "./manifest-files.ts";

/** Files that come with the package, beside the bundle: the dashboard and the demo's manifests. */
export function readDashboard(): Assets {
  const folder = join(packageFolder(), "dist", "web", "assets");
  if (!existsSync(folder)) return new Map();
  return new Map(
    readdirSync(folder).map((name) => {
      const file = {
        contentType: contentTypes[extname(name)] ?? "application/octet-stream",
        body: readFileSync(join(folder, name)),
      };
      return [name === "index.html" ? "/index.html" : `/assets/${name}`, file] as const;
    }),
  );
}

export function readDemo(): readonly KubeObject[] {
  const folder = join(packageFolder(), "demo");
  if (!existsSync(folder)) throw new Failure(`the demo's manifests are missing: ${folder} does not exist`);
  return readManifests([folder]).map(({ object }) => object);
}

/** What the local node may run as threads: programs of their own in the bundle, which are not there for the sources. */
export function threadPrograms(): Readonly<Record<string, string>> {
  const provide = join(dirname(fileURLToPath(import.meta.url)), "provide.mjs");
  return existsSync(provide) ? { provide } : {};
}

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The nearest folder above this file that has our package.json: the bundle and the sources stand at different depths. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Failure("the package's own files were not found");
    folder = parent;
  }
  return folder;
}
