// Our side of the client benchmark: one task per process, the answer as one line of JSON.
import { performance } from "node:perf_hooks";
import { connect } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import { loopBlock, measureRequests } from "./measure.ts";
import { informerOf } from "./our-informer.ts";

const { task, url, ca, namespace, fault } = JSON.parse(process.argv[2] ?? "{}");
const Pod = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true } as const;
const cluster = (): ReturnType<typeof connect> =>
  connect(
    {
      server: url,
      namespace: "default",
      tls: { ca: { kind: "Inline", text: ca } },
      credential: { kind: "Token", token: "bench" },
    },
    { env: systemEnv },
  );

switch (task) {
  case "requests": {
    const { client } = cluster();
    const get = (): Promise<unknown> => client.get(Pod, { namespace: "bench", name: "one" });
    console.log(JSON.stringify(await measureRequests(get)));
    break;
  }
  case "cache": {
    const { client } = cluster();
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const block = loopBlock();
    const started = performance.now();
    const informer = informerOf(client, namespace);
    await informer.synced;
    const syncMs = performance.now() - started;
    const blockMs = block.stop();
    await new Promise((resolve) => setTimeout(resolve, 200));
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed - before;
    console.log(JSON.stringify({ size: informer.size(), heapPerObject: heap / informer.size(), blockMs, syncMs }));
    break;
  }
  case "survive": {
    const { client } = cluster();
    const informer = informerOf(client, namespace, { throwOnce: fault === "throwing", idleTimeoutMs: 2_000 });
    const deadline = performance.now() + 12_000;
    while (performance.now() < deadline && !informer.has("small-2"))
      await new Promise((resolve) => setTimeout(resolve, 50));
    console.log(JSON.stringify({ survived: informer.has("small-2") }));
    break;
  }
}
process.exit(0);
