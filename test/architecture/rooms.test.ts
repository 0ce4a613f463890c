import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { readSources } from "./sources.ts";

/** Each room may import from rooms of earlier rows and from itself; never from its own row or a later one. */
const rows: readonly (readonly string[])[] = [
  ["env"],
  ["kube", "versions", "rego", "http", "store"],
  ["solver"],
  ["api", "client", "apiserver", "audit"],
  ["runtime", "localnode"],
  ["controllers", "registry", "dashboard"],
  ["testing", "control-plane"],
  ["control-plane.ts"],
  ["cli", "index.ts"],
];

/** Roads that cross a row, each with its reason. */
const allowedRoads: Readonly<Record<string, string>> = {
  "localnode -> runtime": "the local node is made of ordinary controllers",
  "client -> api": "requests for scale and tokens use the typed built-in kinds",
  "audit -> api": "audit rows name kinds",
};

const sources = readSources();
const rowOf = new Map(rows.flatMap((rooms, row) => rooms.map((room) => [room, row] as const)));

test("every source file stands in a room that ARCHITECTURE.md and this test know", () => {
  const strangers = sources.filter(({ room }) => !rowOf.has(room)).map(({ path: file }) => file);
  assert.deepEqual(
    strangers,
    [],
    "put the file into a room, or add the room to test/architecture/rooms.test.ts with its place",
  );
});

test("imports point down the layers", () => {
  const wrong: string[] = [];
  for (const source of sources) {
    for (const target of source.imports) {
      if (!target.startsWith(".")) continue;
      const file = path.posix.join(path.posix.dirname(source.path), target);
      const room = file.split("/")[1] ?? "";
      if (room === source.room || !file.startsWith("src/")) continue;
      if (allowedRoads[`${source.room} -> ${room}`]) continue;
      const from = rowOf.get(source.room) ?? 0;
      const to = rowOf.get(room) ?? 0;
      if (to >= from) wrong.push(`${source.path} imports ${file}: ${source.room}/ may not know ${room}/`);
    }
  }
  assert.deepEqual(wrong, [], "move the shared part down a layer, or pass it in from the composition root");
});

test("relative imports name the file with its .ts ending", () => {
  const wrong = sources.flatMap(({ path: file, imports }) =>
    imports
      .filter((target) => target.startsWith(".") && !/\.(ts|json)$/.test(target))
      .map((target) => `${file}: ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test("no system imports another: controllers meet only in the API", () => {
  const wrong: string[] = [];
  for (const source of sources) {
    const own = /^src\/controllers\/([^/]+)\//.exec(source.path)?.[1];
    if (!own) continue;
    for (const target of source.imports) {
      const file = path.posix.join(path.posix.dirname(source.path), target);
      const other = /^src\/controllers\/([^/]+)\//.exec(file)?.[1];
      if (target.startsWith(".") && other && other !== own) wrong.push(`${source.path} imports ${file}`);
    }
  }
  assert.deepEqual(wrong, []);
});
