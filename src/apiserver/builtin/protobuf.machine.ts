import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { decodeJson } from "./decode.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { wireKinds, wireStructOf } from "./wire-types.ts";

// The Go module k8s.io/api ships every kind as JSON and as protobuf with all fields filled in.
const folder = vectorsFolder();

suite("the test vectors of k8s.io/api", {
  skip: folder === undefined && "Go or its module k8s.io/api is not there",
}, () => {
  const names = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(".pb"));
  const served = new Set(wireKinds());
  for (const name of names) {
    const kind = kindOf(name);
    if (!served.has(kind)) continue;
    test(kind, () => {
      const path = join(folder ?? "", name);
      const decoded = decodeProtobuf(readFileSync(path));
      const json: unknown = JSON.parse(readFileSync(path.replace(/\.pb$/, ".json"), "utf8"));
      assert.deepEqual(decoded.object, json);
      const struct = wireStructOf(decoded.apiVersion, decoded.kind);
      assert.ok(struct);
      assert.deepEqual(decodeJson(struct, json), { object: json, unknownFields: [] });
    });
  }

  test("cover every kind that travels in protobuf", () => {
    const found = new Set(names.map(kindOf));
    const missing = [...served].filter((kind) => !found.has(kind) && !withoutVector.has(kind));
    assert.deepEqual(missing, []);
  });
});

/** Not in k8s.io/api, but in modules that ship no vectors. */
const withoutVector = new Set(["v1/DeleteOptions", "v1/Status", "apiextensions.k8s.io/v1/CustomResourceDefinition"]);

/** `apps.v1.Deployment.pb` → `apps/v1/Deployment`; the core group is called `core`. */
function kindOf(name: string): string {
  const parts = name.replace(/\.pb$/, "").split(".");
  const kind = parts.pop() ?? "";
  const version = parts.pop() ?? "";
  const group = parts.join(".");
  return group === "core" ? `${version}/${kind}` : `${group}/${version}/${kind}`;
}

function vectorsFolder(): string | undefined {
  const cwd = join(import.meta.dirname, "../../../scripts/generate-builtin/types");
  try {
    const answer = execFileSync("go", ["list", "-m", "-f", "{{.Dir}}", "k8s.io/api"], {
      cwd,
      encoding: "utf8",
      stdio: "pipe",
    });
    const found = join(answer.trim(), "testdata", "HEAD");
    return answer.trim() !== "" && existsSync(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
