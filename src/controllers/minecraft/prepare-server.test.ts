import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemEnv } from "../../env/system.ts";
import { createOutside } from "./outside.ts";
import type { ListedPlugin } from "./plugin-list.ts";
import { prepareServer } from "./prepare-server.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function folder(context: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-minecraft-"));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const fetched: string[] = [];
  const said: string[] = [];
  const outside = createOutside({
    env: systemEnv,
    userAgent: "test",
    fetch: async ({ target }) => {
      fetched.push(target);
      return {
        status: target.includes("missing") ? 404 : 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from(target);
        })(),
      };
    },
  });
  return {
    dataDir,
    fetched,
    said,
    read: (path: string): string | undefined =>
      existsSync(join(dataDir, path)) ? readFileSync(join(dataDir, path), "utf8") : undefined,
    prepare: async (plugins: readonly Partial<ListedPlugin>[], rcon?: { port: string; password: string }) => {
      const listPath = join(dataDir, "list.json");
      writeFileSync(listPath, JSON.stringify({ plugins }));
      await prepareServer({ listPath, dataDir, outside, say: (line) => void said.push(line), ...(rcon && { rcon }) });
    },
  };
}

const jar = (name: string, version: string, hash = sha256(`https://x/${name}-${version}`)): ListedPlugin => ({
  name,
  version,
  url: `https://x/${name}-${version}`,
  hash,
  file: `${name}.jar`,
});

test("jars are installed, kept, replaced and removed, and others' jars are never touched", async (context) => {
  const { prepare, read, fetched, dataDir } = folder(context);
  mkdirSync(join(dataDir, "plugins", "update"), { recursive: true });
  writeFileSync(join(dataDir, "plugins", "by-hand.jar"), "mine");
  writeFileSync(join(dataDir, "plugins", "update", "a.jar"), "left behind");
  await prepare([jar("a", "1"), jar("b", "1")]);
  assert.equal(read("plugins/a.jar"), "https://x/a-1");
  assert.equal(read("plugins/update/a.jar"), undefined);
  await prepare([jar("a", "1"), jar("b", "1")]);
  assert.deepEqual(fetched, ["https://x/a-1", "https://x/b-1"], "what is there is not fetched again");
  writeFileSync(join(dataDir, "plugins", "b.jar"), "damaged");
  await prepare([jar("a", "2"), jar("b", "1")]);
  assert.equal(read("plugins/a.jar"), "https://x/a-2");
  assert.equal(read("plugins/b.jar"), "https://x/b-1", "a damaged jar is fetched again");
  await prepare([jar("b", "1")]);
  assert.equal(read("plugins/a.jar"), undefined);
  assert.equal(read("plugins/by-hand.jar"), "mine");
});

test("a jar that is not the promised one is not installed, and the old one stays", async (context) => {
  const { prepare, read } = folder(context);
  await prepare([jar("a", "1")]);
  await assert.rejects(
    prepare([jar("a", "2", sha256("something else"))]),
    /a 2 could not be installed: the jar's sha256 is/,
  );
  assert.equal(read("plugins/a.jar"), "https://x/a-1");
  assert.equal(read("plugins/.a.jar.part"), undefined);
  const sha512 = createHash("sha512").update("https://x/a-3").digest("hex");
  await prepare([jar("a", "3", `sha512:${sha512}`)]);
  assert.equal(read("plugins/a.jar"), "https://x/a-3");
});

test("a name that leads out of the folder is ignored", async (context) => {
  const { prepare, read, fetched } = folder(context);
  await prepare([
    { ...jar("a", "1"), file: "../server.jar" },
    { ...jar("b", "1"), file: "/etc/x.jar" },
  ]);
  assert.deepEqual(fetched, []);
  assert.equal(read("server.jar"), undefined);
});

test("RCON is switched on in server.properties, and all other lines stay", async (context) => {
  const { prepare, read, dataDir } = folder(context);
  writeFileSync(join(dataDir, "server.properties"), "#Minecraft\nmotd=Hello\nenable-rcon=false\nrcon.password=\n");
  await prepare([], { port: "25575", password: "a\\b" });
  assert.equal(
    read("server.properties"),
    "#Minecraft\nmotd=Hello\nenable-rcon=true\nrcon.password=a\\\\b\nrcon.port=25575\n",
  );
});
