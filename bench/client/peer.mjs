// The other side of the client benchmark: @kubernetes/client-node from the folder that the benchmark installed it into.
// Plain JavaScript, because the package is no dependency of the project and its types are not there.
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const { task, url, ca, namespace, fault, folder } = JSON.parse(process.argv[2] ?? "{}");
const entry = pathToFileURL(createRequire(`${folder}/index.js`).resolve("@kubernetes/client-node")).href;
const { KubeConfig, CoreV1Api, makeInformer } = await import(entry);

const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: "c", server: url, caData: Buffer.from(ca ?? "").toString("base64") }],
  users: [{ name: "u", token: "bench" }],
  contexts: [{ name: "x", cluster: "c", user: "u" }],
  currentContext: "x",
});
const { loopBlock, measureRequests } = await import("./measure.ts");

const informerOf = (api) => {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const informer = makeInformer(config, path, () => api.listNamespacedPod({ namespace }));
  informer.on("error", () => {});
  return informer;
};

if (task === "requests") {
  const api = config.makeApiClient(CoreV1Api);
  console.log(JSON.stringify(await measureRequests(() => api.readNamespacedPod({ namespace: "bench", name: "one" }))));
}
if (task === "cache") {
  const api = config.makeApiClient(CoreV1Api);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const block = loopBlock();
  const started = performance.now();
  const informer = informerOf(api);
  await informer.start();
  const syncMs = performance.now() - started;
  const blockMs = block.stop();
  await new Promise((resolve) => setTimeout(resolve, 200));
  globalThis.gc?.();
  const size = informer.list().length;
  console.log(
    JSON.stringify({ size, heapPerObject: (process.memoryUsage().heapUsed - before) / size, blockMs, syncMs }),
  );
}
if (task === "survive") {
  const informer = informerOf(config.makeApiClient(CoreV1Api));
  let throws = fault === "throwing";
  informer.on("add", () => {
    if (!throws) return;
    throws = false;
    throw new Error("injected: a handler throws");
  });
  await informer.start();
  // Its watchdog waits for 30 s, which is not ours to set; every other fault is over long before.
  const deadline = performance.now() + (fault === "silence" ? 45_000 : 12_000);
  while (performance.now() < deadline && !informer.get("small-2", namespace))
    await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(JSON.stringify({ survived: informer.get("small-2", namespace) !== undefined }));
}
process.exit(0);
