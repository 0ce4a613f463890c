import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readArchive } from "./bundle-archive.ts";

function entry(name: string, content: string, type = "0"): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write(Buffer.byteLength(content).toString(8).padStart(11, "0"), 124);
  header.write(type, 156);
  header.write("ustar", 257);
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

const archive = (...entries: readonly Buffer[]): Buffer => gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]));

const longName = `${"a".repeat(120)}/data.json`;

const cases: readonly { readonly name: string; readonly bytes: Buffer; readonly files: readonly string[] }[] = [
  {
    name: "files are found whatever their paths begin with, and folders are none",
    bytes: archive(entry("./a", "", "5"), entry("./a/p.rego", "package p"), entry("/data.json", "{}")),
    files: ["a/p.rego: package p", "data.json: {}"],
  },
  {
    name: "long names come in the header of another kind of archive",
    bytes: archive(entry("x", `${longName}\0`, "L"), entry("cut", "1")),
    files: [`${longName}: 1`],
  },
  {
    name: "long names come in a list of attributes",
    bytes: archive(entry("x", `${longName.length + 9} path=${longName}\n`, "x"), entry("cut", "1"), entry("b", "2")),
    files: [`${longName}: 1`, "b: 2"],
  },
];

for (const { name, bytes, files } of cases) {
  test(name, () => {
    assert.deepEqual(
      readArchive(bytes).map(({ path, content }) => `${path}: ${content}`),
      files,
    );
  });
}

test("what is no archive, or only the beginning of one, is refused", () => {
  assert.throws(() => readArchive(Buffer.from("package p")), RangeError);
  assert.throws(() => readArchive(gzipSync(Buffer.alloc(512, "x"))), RangeError);
  assert.throws(() => readArchive(gzipSync(entry("a", "b".repeat(2000)).subarray(0, 1024))), RangeError);
});
