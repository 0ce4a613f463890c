import { execFileSync } from "node:child_process";
import { globSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TarEntry } from "./tar.ts";

/** What the image holds: Node, the libraries that it is linked with, the build, a user, and nothing else. */
export function rootFiles(): readonly TarEntry[] {
  const files = [...nodeFiles(), ...capstanFiles(), ...systemFiles()];
  const folders = new Map<string, TarEntry>();
  for (const { path } of files)
    for (const folder of parentsOf(path)) folders.set(folder, { kind: "folder", path: folder, mode: 0o755 });
  folders.set("tmp", { kind: "folder", path: "tmp", mode: 0o1777 });
  return [...[...folders.values()].sort(byPath), ...[...files].sort(byPath)];
}

export const workFolder = "/opt/capstan";
/** Nobody's number: the user that distroless images use. */
export const userId = 65_532;

function nodeFiles(): TarEntry[] {
  const node = realpathSync(process.execPath);
  const libraries = execFileSync("ldd", [node], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => /(?:=>\s+)?(\/\S+)\s+\(0x/.exec(line)?.[1] ?? []);
  return [
    file("usr/local/bin/node", readFileSync(node), 0o755),
    ...libraries.map((library) => file(library.slice(1), readFileSync(realpathSync(library)), 0o755)),
  ];
}

function capstanFiles(): TarEntry[] {
  const inside = (path: string): string => join(workFolder, path).slice(1);
  const names = [
    "package.json",
    "LICENSE",
    ...globSync(["dist/bundle/**", "dist/web/**", "demo/**"], { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  ];
  const relative = names.map((name) => name.replace(`${process.cwd()}/`, ""));
  const start = `#!/usr/local/bin/node\nawait import("${workFolder}/dist/bundle/capstan.mjs");\n`;
  return [
    ...relative.map((name) => file(inside(name), readFileSync(name), 0o644)),
    // An absolute interpreter: the image has neither a shell nor env.
    file("usr/local/bin/capstan.mjs", Buffer.from(start), 0o755),
    { kind: "link", path: "usr/local/bin/capstan", target: "capstan.mjs" },
  ];
}

const systemFiles = (): TarEntry[] => [
  file(
    "etc/passwd",
    Buffer.from(`root:x:0:0:root:/:/nologin\ncapstan:x:${userId}:${userId}:capstan:/tmp:/nologin\n`),
    0o644,
  ),
  file("etc/group", Buffer.from(`root:x:0:\ncapstan:x:${userId}:\n`), 0o644),
];

const file = (path: string, body: Uint8Array, mode: number): TarEntry => ({ kind: "file", path, body, mode });

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let folder = dirname(path); folder !== "." && folder !== "/"; folder = dirname(folder)) parents.push(folder);
  return parents;
}

const byPath = (a: TarEntry, b: TarEntry): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
