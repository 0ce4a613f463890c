// The client and its informer against @kubernetes/client-node 2.x on the same TLS server, each in processes of its own.
// The peer is installed into a temporary folder: it is no dependency of this project.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { installPeer, peerVersion, startServer } from "./client/peer-setup.ts";
import { faults } from "./client/survival.ts";

const rounds = 5;
const execute = promisify(execFile);
const file = (name: string): string => fileURLToPath(new URL(`client/${name}`, import.meta.url));

interface Row {
  readonly name: string;
  readonly ours: number | string;
  readonly peer: number | string;
  readonly unit: string;
  /** Ours against the peer's, in the direction of the goal. */
  readonly ratio?: number;
  readonly goal?: string;
  readonly met: boolean;
}

export async function run(): Promise<void> {
  const folder = await installPeer();
  const server = await startServer();
  try {
    const task = async (who: "ours" | "peer", options: object): Promise<Answer> =>
      runTask(who, { folder, url: server.url, ca: server.ca, ...options });
    const rows = [
      ...(await importRows(folder)),
      ...(await requestRows(task)),
      ...(await cacheRows(task)),
      ...(await survivalRows(task)),
    ];
    print(rows);
    mkdirSync("bench/results", { recursive: true });
    const result = { peer: `@kubernetes/client-node ${peerVersion}`, node: process.version, rows };
    writeFileSync("bench/results/client.json", `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    server.stop();
  }
}

type Answer = Readonly<Record<string, number | boolean>>;
type Task = (who: "ours" | "peer", options: object) => Promise<Answer>;

/** What people install is JavaScript in few files; the sources are what a checkout's tests load. */
async function importRows(folder: string): Promise<Row[]> {
  const sources = new URL("../src/client/connect.ts", import.meta.url).href;
  const peerModule = createRequire(join(folder, "index.js")).resolve("@kubernetes/client-node");
  const modules = { ours: await bundle(), sources, peer: pathToFileURL(peerModule).href };
  const times = { ours: [] as number[], sources: [] as number[], peer: [] as number[] };
  for (let round = 0; round < rounds; round++)
    for (const who of ["ours", "sources", "peer"] as const)
      times[who].push(number(await runProcess("import.mjs", { url: modules[who] }), "importMs"));
  return [
    lower("import, as published", median(times.ours), median(times.peer), "ms", 1 / 3),
    lower("import of the TypeScript sources", median(times.sources), median(times.peer), "ms"),
  ];
}

async function bundle(): Promise<string> {
  const output = join(await mkdtemp(join(tmpdir(), "capstan-bench-client-")), "client.mjs");
  const built = await rolldown({
    input: fileURLToPath(new URL("../src/client/connect.ts", import.meta.url)),
    platform: "node",
  });
  await built.write({ dir: dirname(output), format: "esm", entryFileNames: basename(output) });
  await built.close();
  return pathToFileURL(output).href;
}

async function requestRows(task: Task): Promise<Row[]> {
  const ours: Answer[] = [];
  const peer: Answer[] = [];
  for (let round = 0; round < 3; round++) {
    ours.push(await task("ours", { task: "requests" }));
    peer.push(await task("peer", { task: "requests" }));
  }
  const of = (answers: readonly Answer[], key: string): number => number(medians(answers), key);
  return [
    higher(
      "GET of a pod, one after the other",
      of(ours, "sequentialPerSecond"),
      of(peer, "sequentialPerSecond"),
      "requests/s",
      5,
    ),
    higher(
      "GET of a pod, 32 at a time",
      of(ours, "concurrentPerSecond"),
      of(peer, "concurrentPerSecond"),
      "requests/s",
      5,
    ),
    lower(
      "processor time of one GET, 32 at a time",
      of(ours, "cpuMicrosPerRequest"),
      of(peer, "cpuMicrosPerRequest"),
      "µs",
    ),
  ];
}

async function cacheRows(task: Task): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [namespace, what] of [
    ["bench", "10,000 pods of 4.5 KB"],
    ["small", "10,000 pods of 1.2 KB"],
  ] as const) {
    const samples = { ours: [] as Answer[], peer: [] as Answer[] };
    // Interleaved, and the median of each: on a busy machine a single block may be somebody else's.
    for (let round = 0; round < 3; round++)
      for (const who of ["ours", "peer"] as const) samples[who].push(await task(who, { task: "cache", namespace }));
    const ours = medians(samples.ours);
    const peer = medians(samples.peer);
    rows.push(
      namespace === "bench"
        ? lower(
            `heap per object, ${what}`,
            number(ours, "heapPerObject"),
            number(peer, "heapPerObject"),
            "bytes",
            2 / 3,
          )
        : below(
            `heap per object, ${what}`,
            number(ours, "heapPerObject"),
            number(peer, "heapPerObject"),
            "bytes",
            2_200,
          ),
      lower(
        `longest event-loop block of the first sync, ${what}`,
        number(ours, "blockMs"),
        number(peer, "blockMs"),
        "ms",
        1 / 5,
      ),
      lower(`time of the first sync, ${what}`, number(ours, "syncMs"), number(peer, "syncMs"), "ms"),
    );
  }
  return rows;
}

async function survivalRows(task: Task): Promise<Row[]> {
  const run = async (fault: string, who: "ours" | "peer"): Promise<boolean> => {
    try {
      return (await task(who, { task: "survive", fault, namespace: `survive-${fault}-${who}` }))["survived"] === true;
    } catch {
      // The process died of the fault.
      return false;
    }
  };
  return Promise.all(
    Object.entries(faults).map(async ([fault, sentence]) => {
      const [ours, peer] = await Promise.all([run(fault, "ours"), run(fault, "peer")]);
      const word = (survived: boolean): string => (survived ? "goes on" : "stops");
      return {
        name: `survives: ${sentence}`,
        ours: word(ours),
        peer: word(peer),
        unit: "",
        goal: "goes on",
        met: ours,
      };
    }),
  );
}

const lower = (name: string, ours: number, peer: number, unit: string, goal?: number): Row => ({
  name,
  ours: round(ours),
  peer: round(peer),
  unit,
  ratio: round(ours / peer),
  ...(goal !== undefined && { goal: `≤ ${round(goal)}` }),
  met: goal === undefined || ours / peer <= goal,
});

/** A goal in absolute numbers. */
const below = (name: string, ours: number, peer: number, unit: string, goal: number): Row => ({
  ...lower(name, ours, peer, unit),
  goal: `ours ≤ ${goal}`,
  met: ours <= goal,
});

const higher = (name: string, ours: number, peer: number, unit: string, goal: number): Row => ({
  name,
  ours: round(ours),
  peer: round(peer),
  unit,
  ratio: round(ours / peer),
  goal: `≥ ${goal}`,
  met: ours / peer >= goal,
});

const round = (value: number): number => Number(value.toPrecision(3));
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The median of every number that the answers give. */
const medians = (answers: readonly Answer[]): Answer =>
  Object.fromEntries(
    Object.keys(answers[0] ?? {}).map((key) => [key, median(answers.map((answer) => number(answer, key)))]),
  );

function number(answer: Answer, key: string): number {
  const value = answer[key];
  if (typeof value !== "number") throw new Error(`the task answered no ${key}`);
  return value;
}

function print(rows: readonly Row[]): void {
  console.log(`${"".padEnd(66)} ${"ours".padStart(9)} ${"peer".padStart(9)} ${"ratio".padStart(7)}  goal`);
  for (const { name, ours, peer, unit, ratio = "", goal = "", met } of rows)
    console.log(
      `${`${name}${unit && ` (${unit})`}`.padEnd(66)} ${String(ours).padStart(9)} ${String(peer).padStart(9)} ${String(ratio).padStart(7)}  ${goal}${met ? "" : "  MISSED"}`,
    );
}

const runTask = (who: "ours" | "peer", options: object): Promise<Answer> =>
  runProcess(who === "ours" ? "ours.ts" : "peer.mjs", options);

async function runProcess(script: string, options: object): Promise<Answer> {
  const args = ["--expose-gc", file(script), JSON.stringify(options)];
  const { stdout } = await execute(process.execPath, args, { timeout: 120_000 });
  return JSON.parse(stdout) as Answer;
}
