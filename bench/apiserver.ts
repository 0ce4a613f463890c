// The embedded API server against a real kube-apiserver with etcd: same machine, same requests, same run, and both keep
// what they acknowledge. Without a built kube-apiserver only our own numbers are shown.
import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { embeddedPeer, type Peer, type RunningServer, realPeer } from "./apiserver/peers.ts";

const objectCount = Number(process.env["BENCH_OBJECTS"] ?? 10_000);
const phaseSeconds = Number(process.env["BENCH_SECONDS"] ?? 3);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const starts = 3;

type Measures = Readonly<Record<string, number>>;

interface Goal {
  readonly measure: string;
  readonly name: string;
  readonly unit: string;
  readonly better: "more" | "less";
  /** At least this many times better than the peer. */
  readonly factor: number;
}

const goals: readonly Goal[] = [
  { measure: "firstMs", name: "start to first accepted custom resource", unit: "ms", better: "less", factor: 10 },
  { measure: "idleMegabytes", name: "resident memory, idle", unit: "MB", better: "less", factor: 3 },
  { measure: "createsPerSecond", name: "creates, 64 clients", unit: "/s", better: "more", factor: 1 },
  { measure: "updatesPerSecond", name: "get + update, 64 clients", unit: "/s", better: "more", factor: 1 },
  { measure: "statusPatchesPerSecond", name: "status patches, 64 clients", unit: "/s", better: "more", factor: 1 },
  { measure: "appliesPerSecond", name: "applies, 64 clients", unit: "/s", better: "more", factor: 1 },
  { measure: "getsPerSecond", name: "gets, 64 clients", unit: "/s", better: "more", factor: 1 },
  { measure: "listsPerSecond", name: `lists of ${objectCount}`, unit: "/s", better: "more", factor: 1 },
  {
    measure: "pagedListsPerSecond",
    name: `lists of ${objectCount} in pages of 500`,
    unit: "/s",
    better: "more",
    factor: 1,
  },
  { measure: "watchP99Ms", name: "100 watchers × 1,000 updates, p99", unit: "ms", better: "less", factor: 1 },
];

const phases = ["creates", "fill", "gets", "updates", "statusPatches", "applies", "lists", "pages", "watches"];

/** On a machine that does other things too, processor time says more than throughput. */
const processorGoals: readonly Goal[] = phases
  .filter((phase) => phase !== "fill")
  .map((phase) => ({
    measure: `${phase}ProcessorMicros`,
    name: `processor time for each of the ${phase}`,
    unit: "µs",
    better: "less",
    factor: 1,
  }));

export async function run(): Promise<void> {
  const peers = [await embeddedPeer(), realPeer()].filter((peer): peer is Peer => peer !== undefined);
  const starts = await measureStarts(peers);
  const running = await Promise.all(peers.map(startLoaded));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  for (const { peer, server, measures } of running) {
    measures["firstMs"] = median(starts.get(peer.name) ?? []);
    measures["idleMegabytes"] = server.residentBytes() / 1e6;
  }
  try {
    for (const phase of phases) await measurePhase(running, phase);
    for (const { server, measures } of running) measures["loadedMegabytes"] = server.residentBytes() / 1e6;
  } finally {
    for (const { client, server } of running) {
      client.stop();
      await server.stop();
    }
  }
  report(
    running.find(({ peer }) => peer.name === "embedded")?.measures ?? {},
    running.find(({ peer }) => peer.name === "real")?.measures,
  );
}

function report(ours: Measures, real: Measures | undefined): void {
  const rows = [...goals, ...processorGoals].map((goal) => compare(goal, ours, real));
  for (const row of rows) console.log(format(row));
  console.log(`events delivered: ${ours["watchDelivered"]} of 100000, out of order: ${ours["watchDisorder"]}`);
  const load = loadavg().map(round);
  console.log(`load of the machine: ${load.join(", ")} on ${availableParallelism()} processors`);
  if (!real)
    console.log(
      "no kube-apiserver here to compare with: set CAPSTAN_REAL_BIN to a folder with kube-apiserver and etcd",
    );
  mkdirSync("bench/results", { recursive: true });
  const machine = { processors: availableParallelism(), load };
  const result = { node: process.version, machine, objectCount, rounds, rows, embedded: ours, ...(real && { real }) };
  writeFileSync("bench/results/apiserver.json", `${JSON.stringify(result, null, 2)}\n`);
}

interface Running {
  readonly peer: Peer;
  readonly server: RunningServer;
  readonly client: LoadClient;
  readonly measures: Record<string, number>;
}

/** One after the other and in turns, so that whatever else the machine does slows both. */
async function measureStarts(peers: readonly Peer[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, number[]>(peers.map(({ name }) => [name, []]));
  for (let start = 0; start < starts; start++) {
    for (const peer of peers) {
      console.log(`starting ${peer.name}…`);
      found.get(peer.name)?.push(await startOnly(peer));
    }
  }
  return found;
}

async function startOnly(peer: Peer): Promise<number> {
  const started = performance.now();
  const server = await peer.start();
  const client = await loadClient(server.url, server.token);
  const spawnedMs = performance.now() - started - client.readyMs;
  const { firstMs = 0 } = await client.ask("start", 0);
  client.stop();
  await server.stop();
  return spawnedMs + firstMs;
}

async function startLoaded(peer: Peer): Promise<Running> {
  const server = await peer.start();
  const client = await loadClient(server.url, server.token);
  await client.ask("start", 0);
  return { peer, server, client, measures: {} };
}

/** Both servers in turns, several times; the median counts. The server that waits does nothing. */
async function measurePhase(running: readonly Running[], phase: string): Promise<void> {
  const found = new Map<Running, Measures[]>(running.map((each) => [each, []]));
  for (let at = 0; at < (phase === "fill" ? 1 : rounds); at++) {
    const order = at % 2 === 0 ? running : running.toReversed();
    for (const each of order) {
      console.log(`${each.peer.name}: ${phase}, round ${at + 1}`);
      const before = each.server.processorSeconds();
      const { requests, ...answer } = await each.client.ask(phase, at);
      const processorSeconds = each.server.processorSeconds() - before;
      const perRequest = requests && { [`${phase}ProcessorMicros`]: (processorSeconds / requests) * 1e6 };
      found.get(each)?.push({ ...answer, ...perRequest });
    }
  }
  for (const [{ measures }, answers] of found) {
    for (const key of Object.keys(answers[0] ?? {})) {
      measures[key] = median(answers.map((answer) => answer[key] ?? 0));
    }
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

type LoadClient = Awaited<ReturnType<typeof loadClient>>;

/** The client's own start is not the server's fault: it is measured and taken off. */
async function loadClient(url: string, token: string) {
  const begun = performance.now();
  const child = fork(fileURLToPath(new URL("./apiserver/load.ts", import.meta.url)), [
    url,
    token,
    String(objectCount),
    String(phaseSeconds),
  ]);
  const ended = new Promise<never>((_resolve, reject) =>
    child.once("exit", (code) => reject(new Error(`the client ended with ${code}`))),
  );
  ended.catch(() => {});
  const next = (): Promise<unknown> => Promise.race([new Promise((resolve) => child.once("message", resolve)), ended]);
  await next();
  return {
    readyMs: performance.now() - begun,
    async ask(phase: string, at: number): Promise<Measures> {
      const answer = next();
      child.send({ phase, round: at });
      return (await answer) as Measures;
    },
    stop: () => child.kill(),
  };
}

interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly real?: number;
  /** How many times better than the peer. */
  readonly ratio?: number;
  readonly goal: string;
  readonly met?: boolean;
}

function compare({ measure: key, name, unit, better, factor }: Goal, ours: Measures, real: Measures | undefined): Row {
  const own = ours[key] ?? 0;
  const peer = real?.[key];
  const base = { name, unit, ours: round(own), goal: `≥ ${factor}×` };
  if (peer === undefined) return base;
  const ratio = better === "more" ? own / peer : peer / own;
  return { ...base, real: round(peer), ratio: round(ratio), met: ratio >= factor };
}

const round = (value: number): number => Number(value.toPrecision(3));

const format = ({ name, unit, ours, real, ratio, goal, met }: Row): string =>
  `${name.padEnd(44)} ${String(ours).padStart(8)} ${unit.padEnd(3)}` +
  (real === undefined
    ? ""
    : `  real ${String(real).padStart(8)} ${unit.padEnd(3)}  ${String(ratio).padStart(6)}× better (goal ${goal}) ${met ? "met" : "MISSED"}`);
