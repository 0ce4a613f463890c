/** What `npm start` costs while nobody does anything: the figures that README and CHANGELOG promise. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const maxMegabytes = 150;
const maxProcessorPercent = 1;
const settledSeconds = 60;
const measuredSeconds = 30;
/** Ticks of the processor in a second, on every Linux. */
const ticksPerSecond = 100;

/** The process and everything that it has started, its children's children included. */
function family(pid: number): readonly number[] {
  const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) =>
    readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(family)];
}

const megabytesOf = (file: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(file, "utf8"))?.[1]) / 1024;
const residentMegabytes = (pid: number): number => megabytesOf(`/proc/${pid}/status`, "VmRSS");
/** What it shares with others is divided among them. */
const proportionalMegabytes = (pid: number): number => megabytesOf(`/proc/${pid}/smaps_rollup`, "Pss");
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const processorTicks = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
};

test("the demo idles below 150 MB and 1 % of a processor", {
  skip: process.platform === "linux" ? false : "/proc is where it is measured",
  timeout: 300_000,
}, async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-idle-"));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { start: string } };
  const flags = /node (--\S+ )*bin\/capstan\.mjs/.exec(scripts.start)?.[0].split(" ").slice(1, -1) ?? [];
  const ports = ["--api-port", "0", "--http-port", "0", "--grpc-port", "0"];
  const child = spawn(
    process.execPath,
    [...flags, resolve("bin/capstan.mjs"), "up", "--demo", "--data-dir", dataDir, ...ports],
    { stdio: "ignore" },
  );
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const ready = join(dataDir, "ready.json");
  while (!existsSync(ready) && child.exitCode === null) await sleep(100);
  const { pid } = JSON.parse(readFileSync(ready, "utf8")) as { pid: number };

  // What was needed only for the start is given back after a while of quiet.
  await sleep(settledSeconds * 1_000);
  const processes = family(pid);
  const ticks = (): number => sum(processes.map(processorTicks));
  const before = ticks();
  await sleep(measuredSeconds * 1_000);
  const percent = ((ticks() - before) / ticksPerSecond / measuredSeconds) * 100;
  const megabytes = sum(processes.map(residentMegabytes));
  const shared = sum(processes.map(proportionalMegabytes));
  context.diagnostic(
    `${megabytes.toFixed(0)} MB resident (${shared.toFixed(0)} MB proportional) in ${processes.length} processes, ${percent.toFixed(2)} % of a processor`,
  );
  const { http } = JSON.parse(readFileSync(ready, "utf8")) as { http: string };
  const services = (await (await fetch(`${http}/api/v1/capabilities`)).text()).match(/"serviceName"/g) ?? [];
  child.kill("SIGINT");
  assert.equal(await ended, 0);
  assert.ok(services.length >= 4, `the demo's providers are registered: ${services.length}`);
  assert.ok(megabytes < maxMegabytes, `${megabytes.toFixed(1)} MB`);
  assert.ok(percent < maxProcessorPercent, `${percent.toFixed(2)} %`);
});
