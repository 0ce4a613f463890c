// Writes src/apiserver/builtin/*.generated.json: the schemas, wire types and discovery of the built-in kinds, asked from a
// real kube-apiserver and from its Go types. Run by hand when the version of Kubernetes changes; needs Go and a real server.
//
//     node scripts/generate-builtin/generate.ts
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { realServerFolder, startRealServer } from "../cluster/api-server.ts";
import { definitionsOf } from "./definitions.ts";
import { discoveryOf } from "./discovery.ts";
import { servedKinds, transientKinds } from "./kinds.ts";
import { compactTypes, type GoTypes } from "./wire-types.ts";

const here = import.meta.dirname;
const target = join(here, "..", "..", "src", "apiserver", "builtin");

const folder = realServerFolder();
if (!folder)
  throw new Error("no real kube-apiserver found: CAPSTAN_REAL_BIN names the folder with etcd and kube-apiserver");
await using server = await startRealServer(folder);

// Texts inside of JSON: a module that imports them pays for their parsing only when somebody asks.
write("definitions", JSON.stringify(await definitionsOf(server, [...servedKinds, ...transientKinds])));
write("discovery", await discoveryOf(server, [...servedKinds, ...transientKinds]));
const goTypes: GoTypes = JSON.parse(
  execFileSync("go", ["run", ".", ...servedKinds, ...transientKinds], {
    cwd: join(here, "types"),
    maxBuffer: 1 << 28,
  }).toString(),
);
write("wire-types", JSON.stringify(compactTypes(goTypes)));

function write(name: string, value: unknown): void {
  const text = `${JSON.stringify(value)}\n`;
  writeFileSync(join(target, `${name}.generated.json`), text);
  console.log(`${name}.generated.json: ${text.length} bytes`);
}
