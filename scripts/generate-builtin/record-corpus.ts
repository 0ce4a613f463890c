// Writes src/apiserver/builtin/recorded.generated.json: what a real server makes of the corpus.
//
//     node scripts/generate-builtin/record-corpus.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { realServerFolder, startRealServer } from "../cluster/api-server.ts";
import { record } from "./record.ts";

const folder = realServerFolder();
if (!folder)
  throw new Error("no real kube-apiserver found: CAPSTAN_REAL_BIN names the folder with etcd and kube-apiserver");
await using server = await startRealServer(folder);
const recorded = await record(server);
const target = join(import.meta.dirname, "..", "..", "src", "apiserver", "builtin", "recorded.generated.json");
const section = ([name, list]: [string, readonly unknown[]]): string =>
  `${JSON.stringify(name)}:[\n${list.map((entry) => JSON.stringify(entry)).join(",\n")}\n]`;
writeFileSync(target, `{${Object.entries(recorded).map(section).join(",\n")}}\n`);
for (const [name, list] of Object.entries(recorded)) console.log(`${name}: ${list.length}`);
const unexpected = recorded.creates.filter(({ status }) => status !== 201);
for (const { given, answer } of unexpected)
  console.error(`refused: ${JSON.stringify(given)}: ${JSON.stringify(answer["message"])}`);
