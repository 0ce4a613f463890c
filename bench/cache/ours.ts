// Our side of the cache benchmark: one measurement per process, the answer as one line of JSON.
import { performance } from "node:perf_hooks";
import { connect } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import { createInformer } from "../../src/runtime/informer.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { loopBlock } from "../client/measure.ts";

const { url, ca, namespace, watchList } = JSON.parse(process.argv[2] ?? "{}");
const Pod: KindRef = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
const { client } = connect(
  {
    server: url,
    namespace: "default",
    tls: { ca: { kind: "Inline", text: ca } },
    credential: { kind: "Token", token: "bench" },
  },
  { env: systemEnv },
);

globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
const block = loopBlock();
const started = performance.now();
const informer = createInformer(
  Pod,
  { namespace },
  { env: systemEnv, client, log: silentLogger, watcher: { watchList } },
);
informer.cache.addIndex("tier", ({ metadata }) => [metadata.labels?.["tier"] ?? ""]);
void informer.run(new AbortController().signal);
await informer.cache.whenSynced();
const syncMs = performance.now() - started;
const blockMs = block.stop();
await new Promise((resolve) => setTimeout(resolve, 200));
globalThis.gc?.();
const { size } = informer.cache;
const heapPerObject = (process.memoryUsage().heapUsed - before) / size;

// Reading what is cached, as a reconcile does it: by key, and by index.
const readsStarted = performance.now();
const reads = 1_000_000;
for (let turn = 0; turn < reads; turn++) informer.cache.get({ namespace: "bench", name: `small-${turn % size}` });
const nanosecondsPerGet = ((performance.now() - readsStarted) * 1e6) / reads;
console.log(JSON.stringify({ size, heapPerObject, blockMs, syncMs, nanosecondsPerGet }));
process.exit(0);
