// Loads one module in a fresh process and says how long it took.
import { performance } from "node:perf_hooks";

const { url } = JSON.parse(process.argv[2] ?? "{}");
const startedAtMs = performance.now();
await import(url);
console.log(JSON.stringify({ importMs: performance.now() - startedAtMs, rssMb: process.memoryUsage().rss / 1e6 }));
process.exit(0);
