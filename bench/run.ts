// Runs benchmarks: `npm run bench` lists them, `npm run bench -- NAME` runs one. Each prints ratios against a peer or a
// limit of the same run and writes bench/results/NAME.json.
import { globSync } from "node:fs";
import { basename } from "node:path";

const names = globSync("bench/*.ts")
  .map((file) => basename(file, ".ts"))
  .filter((name) => name !== "run")
  .sort();
const [wanted] = process.argv.slice(2);

if (wanted === undefined || !names.includes(wanted)) {
  if (wanted !== undefined) console.error(`there is no benchmark ${wanted}`);
  console.log(`benchmarks: ${names.join(", ")}\nrun one with: npm run bench -- NAME`);
  process.exit(wanted === undefined ? 0 : 1);
}
const { run } = (await import(`./${wanted}.ts`)) as { run(): Promise<void> };
await run();
