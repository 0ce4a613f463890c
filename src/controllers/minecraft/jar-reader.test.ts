import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { JarReader } from "./jar-reader.ts";
import { metadataFiles, readJarMetadata } from "./plugin-jar.ts";
import { zip } from "./zip-writing.ts";

async function read(jar: Uint8Array, chunkBytes: number): Promise<ReadonlyMap<string, Uint8Array>> {
  const reader = new JarReader(metadataFiles);
  for (let at = 0; at < jar.length; at += chunkBytes) await reader.push(jar.subarray(at, at + chunkBytes));
  reader.close();
  return reader.files;
}

const manifest = "name: Vault\nversion: 1.7.3\napi-version: '1.21'\ndepend: [Economy]\nsoftdepend:\n  - Chat\n";

for (const [name, options] of [
  ["sizes before the data", {}],
  ["sizes behind the data", { sizesBehind: true }],
  ["nothing compressed", { stored: true }],
] as const) {
  test(`plugin.yml is found in a jar with ${name}, in chunks of any size`, async () => {
    const jar = zip(
      { "META-INF/MANIFEST.MF": "x", "a/Big.class": randomBytes(200_000), "plugin.yml": manifest, "b/C.class": "y" },
      options,
    );
    for (const chunkBytes of [7, 1_000, 65_536, jar.length]) {
      const files = await read(jar, chunkBytes);
      assert.equal(Buffer.from(files.get("plugin.yml") ?? []).toString(), manifest, `chunks of ${chunkBytes}`);
    }
  });
}

test("a jar says its version, the oldest Minecraft it runs on, and what it needs", async () => {
  assert.deepEqual(readJarMetadata(await read(zip({ "plugin.yml": manifest }), 100)), {
    version: "1.7.3",
    minecraftVersions: ["1.21+"],
    dependencies: [
      { project: "Economy", required: true },
      { project: "Chat", required: false },
    ],
  });
});

test("paper-plugin.yml comes first, and numbers are versions too", async () => {
  const jar = zip(
    {
      "plugin.yml": manifest,
      "paper-plugin.yml":
        "version: 2\napi-version: 1.21\ndependencies:\n  server:\n    Vault: {required: false}\n    Core: {}\n",
    },
    { sizesBehind: true },
  );
  assert.deepEqual(readJarMetadata(await read(jar, 50)), {
    version: "2",
    minecraftVersions: ["1.21+"],
    dependencies: [
      { project: "Vault", required: false },
      { project: "Core", required: true },
    ],
  });
});

test("no bytes make the reader hang or crash the process", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.nat(2), async (noise, where) => {
      const jar = Buffer.from(zip({ "a.txt": "hello".repeat(20), "plugin.yml": manifest }, { sizesBehind: true }));
      const cut = [0, 30, jar.length / 2][where] ?? 0;
      const broken = Buffer.concat([jar.subarray(0, cut), noise, jar.subarray(cut)]);
      await read(broken, 64).catch((error: unknown) => assert.ok(error instanceof Error));
    }),
    { numRuns: 100 },
  );
});
