// The registry beside the node:http floor and, where they have been built, r-nacos and Consul, all in the same run on the same machine:
// lookups at 10k, 100k and 1M services, registrations on disk, heartbeats one by one and in bulk, and how long a change
// takes to 1,000 subscribers. CPU time is the server's own; the load generator is another process's.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { loadavg } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startConsul } from "./registry/consul.ts";
import { get, type LoadResult, load, post } from "./registry/load.ts";
import { findPeer, type Peer, versionOf } from "./registry/peer.ts";
import { startRnacos } from "./registry/rnacos.ts";
import { type ServerSettings, servedId } from "./registry/served.ts";

const connections = 32;
const durationMs = 400;
const rounds = 15;
const discovery = "/api/v1/management/discovery";
const sizes = [10_000, 100_000, 1_000_000];
const maxLookupRatio = 1.5;

export async function run(): Promise<void> {
  const rows: Row[] = [];
  const lookups = await measureLookups(rows);
  const writes: { readonly single: number; readonly bulk: number }[] = [];
  for (const entries of sizes) writes.push(await measureWrites(rows, entries));
  const feed = await measureFeed();
  const rnacos = await measureRnacos(rows);
  const consul = await measureConsul(rows);
  const ratios = {
    lookupCpuToFloor: Object.fromEntries(lookups.map(({ entries, ratio }) => [entries, ratio])),
    lookupCpuToListener: Object.fromEntries(lookups.map(({ entries, toListener }) => [entries, toListener])),
    bulkToSingleHeartbeats: Object.fromEntries(
      writes.map(({ bulk, single }, index) => [sizes[index], round(bulk / single)]),
    ),
    ...rnacos?.ratios,
    ...consul?.ratios,
  };
  const goals = {
    [`CPU of a lookup ≤ ${maxLookupRatio} of the floor`]: lookups.every(({ ratio }) => ratio <= maxLookupRatio),
    "bulk heartbeats ≥ 10 × single ones": writes.every(({ bulk, single }) => bulk >= 10 * single),
    ...(rnacos && { "batched lookups ≥ 1 × r-nacos": rnacos.ratios.batchedLookupToRnacos >= 1 }),
    ...(consul && { "durable registrations ≥ 2 × Consul": consul.ratios.durableRegistrationToConsul >= 2 }),
  };
  const result = {
    node: process.version,
    connections,
    rounds,
    loadAverage: loadavg().map(round),
    peers: {
      rnacos: rnacos ? `${rnacos.version}, one worker` : "not built here",
      consul: consul ? `${consul.version}, one server, its log on disk` : "not built here",
    },
    rows,
    bytesPerInstance: lookups.map(({ entries, bytes, bytesAfterLookups }) => ({ entries, bytes, bytesAfterLookups })),
    changeToSubscriber: feed,
    ratios,
    goals,
  };
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/registry.json", `${JSON.stringify(result, null, 2)}\n`);
  for (const { name, perSecond, cpuMicroseconds, p99Ms } of rows)
    console.log(
      `${name.padEnd(46)} ${String(Math.round(perSecond)).padStart(8)}/s  ${String(cpuMicroseconds).padStart(7)} µs CPU  p99 ${p99Ms} ms`,
    );
  console.log(`change → 1,000 subscribers: ${JSON.stringify(feed)}`);
  console.log(`bytes per instance: ${JSON.stringify(result.bytesPerInstance)}`);
  console.log(`ratios: ${JSON.stringify(ratios)}\ngoals: ${JSON.stringify(goals)}`);
}

interface Row {
  readonly name: string;
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Lookups {
  readonly entries: number;
  readonly perSecond: number;
  readonly batchedPerSecond: number;
  readonly ratio: number;
  readonly toListener: number;
  readonly bytes: number;
  /** Whether reading leaves anything behind; the server's own code and connections, about a megabyte, are in it. */
  readonly bytesAfterLookups: number;
}

async function measureLookups(rows: Row[]): Promise<Lookups[]> {
  const results: Lookups[] = [];
  for (const entries of sizes) {
    const server = await startServer({ kind: "registry", entries, isDurable: false });
    const names = entries / 10;
    const path = (turn: number): string =>
      `/api/v1/capabilities?serviceName=service-${(turn * 7919) % names}&serviceType=tool-invoker`;
    const { bytesPerAnswer } = await load({
      url: server.url,
      connections: 4,
      durationMs: 300,
      request: (turn) => get(path(turn)),
    });
    const same = { entries: 0, isDurable: false, answerBytes: Math.round(bytesPerAnswer) };
    const floor = await startServer({ kind: "floor", ...same });
    const listener = await startServer({ kind: "listener", ...same });
    const ours: Sample[] = [];
    const theirs: Sample[] = [];
    const empty: Sample[] = [];
    // In turns, so that whatever else the machine does falls on both.
    for (let index = 0; index < rounds; index++) {
      ours.push(await sample(server, (turn) => get(path(turn))));
      theirs.push(await sample(floor, (turn) => get(path(turn))));
      empty.push(await sample(listener, (turn) => get(path(turn))));
    }
    const batch = await sample(server, hundredQuestions(names));
    const own = median(ours);
    const least = median(theirs);
    rows.push(rowOf(`lookup by name and type, ${entries} services`, own));
    rows.push(rowOf("  node:http, an answer of the same size", least));
    rows.push(rowOf("  the product's listener, nothing behind it", median(empty)));
    rows.push(rowOf(`  resolve, 100 questions a request, ${entries}`, perItem(batch, 100)));
    results.push({
      entries,
      perSecond: own.result.perSecond,
      batchedPerSecond: batch.result.perSecond * 100,
      ratio: pairedRatio(ours, theirs),
      toListener: pairedRatio(ours, empty),
      bytes: Math.round(server.bytesPerInstance),
      bytesAfterLookups: await bytesPerInstance(server),
    });
    server.stop();
    floor.stop();
    listener.stop();
  }
  return results;
}

/** On disk, with so many services there already; heartbeats are of 10,000 of them. */
async function measureWrites(rows: Row[], entries: number): Promise<{ single: number; bulk: number }> {
  const server = await startServer({ kind: "registry", entries, isDurable: true });
  rows.push(
    rowOf(`registration, on disk, ${entries} services`, await repeated(() => sample(server, nextRegistration()))),
  );
  const known = Array.from({ length: 10_000 }, (_, index) => servedId(index));
  const part = (turn: number): readonly string[] => {
    const start = (turn * heartbeatsAtOnce) % known.length;
    return known.slice(start, start + heartbeatsAtOnce);
  };
  const many = (turn: number): string => post(`${discovery}/heartbeats`, JSON.stringify(part(turn)));
  // The first heartbeat of each is written; the ones that are measured are not.
  for (let turn = 0; turn < known.length / heartbeatsAtOnce; turn++)
    await load({ url: server.url, connections: 1, durationMs: 1, request: () => many(turn) });
  const one = (turn: number): string => post(`${discovery}/heartbeats`, known[turn % known.length] ?? "");
  const single = await repeated(() => sample(server, one));
  const bulk = await repeated(() => sample(server, many));
  rows.push(rowOf(`heartbeat, ${entries} services`, single));
  rows.push(rowOf(`  ${heartbeatsAtOnce} heartbeats a request, each`, perItem(bulk, heartbeatsAtOnce)));
  server.stop();
  return { single: single.result.perSecond, bulk: bulk.result.perSecond * heartbeatsAtOnce };
}

const heartbeatsAtOnce = 1_000;

async function repeated(measure: () => Promise<Sample>): Promise<Sample> {
  const samples: Sample[] = [];
  for (let round = 0; round < peerRounds; round++) samples.push(await measure());
  return median(samples);
}

const idOf = (turn: number): string => `00000000-0000-4000-9000-${String(turn).padStart(12, "0")}`;

/** 100 changes a second for a while, to 1,000 readers in this process. */
async function measureFeed(): Promise<{
  subscribers: number;
  deliveries: number;
  p50Ms: number;
  p99Ms: number;
  lost: number;
}> {
  const subscribers = 1_000;
  const changes = 200;
  const server = await startServer({ kind: "registry", entries: 0, isDurable: true });
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  const { hostname, port } = new URL(server.url);
  const sockets = await Promise.all(
    Array.from({ length: subscribers }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.setEncoding("latin1");
      socket.write(get("/api/v1/capabilities/notifications"));
      await new Promise((resolve) => socket.once("data", resolve));
      let rest = "";
      socket.on("data", (chunk: string) => {
        const now = performance.now();
        rest += chunk;
        for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
          const id = /id:([0-9a-f-]{36})/.exec(rest.slice(0, end))?.[1];
          rest = rest.slice(end + 2);
          if (id !== undefined) delays.push(now - (sentAt.get(id) ?? now));
        }
      });
      return socket;
    }),
  );
  for (let change = 0; change < changes; change++) {
    const id = idOf(1_000_000 + change);
    sentAt.set(id, performance.now());
    const body = JSON.stringify({ id, serviceName: "s", host: "h", port: change });
    void fetch(server.url + discovery, { method: "POST", body });
    await wait(10);
  }
  const until = performance.now() + 10_000;
  while (delays.length < subscribers * changes && performance.now() < until) await wait(50);
  for (const socket of sockets) socket.destroy();
  server.stop();
  delays.sort((a, b) => a - b);
  return {
    subscribers,
    deliveries: delays.length,
    p50Ms: round(delays[delays.length >> 1] ?? 0),
    p99Ms: round(delays[Math.floor(delays.length * 0.99)] ?? 0),
    lost: subscribers * changes - delays.length,
  };
}

/** In turns again: whatever the neighbours do falls on both. */
async function inTurns(ours: () => Promise<Sample>, theirs: () => Promise<Sample>): Promise<[Sample, Sample, number]> {
  const samples: { readonly our: Sample; readonly their: Sample }[] = [];
  for (let round = 0; round < peerRounds; round++) samples.push({ our: await ours(), their: await theirs() });
  const ratios = samples.map(({ our, their }) => our.result.perSecond / their.result.perSecond).sort((a, b) => a - b);
  const ratio = ratios[ratios.length >> 1] ?? Number.NaN;
  return [median(samples.map(({ our }) => our)), median(samples.map(({ their }) => their)), round(ratio)];
}
const peerRounds = 7;

interface Compared<Ratio extends string> {
  readonly version: string;
  readonly ratios: Readonly<Record<Ratio, number>>;
}

async function measureRnacos(
  rows: Row[],
): Promise<Compared<"lookupToRnacos" | "batchedLookupToRnacos" | "durableRegistrationToRnacosInMemory"> | undefined> {
  const file = findPeer("rnacos");
  if (file === undefined) return undefined;
  const peer = await startRnacos(file);
  const server = await startServer({ kind: "registry", entries: 10_000, isDurable: false });
  const durable = await startServer({ kind: "registry", entries: 0, isDurable: true });
  try {
    const instance = (turn: number): string =>
      `serviceName=service-${Math.floor(turn / 10)}&ip=10.0.${(turn >> 8) & 255}.${turn & 255}&port=${9000 + (turn % 10)}&ephemeral=true`;
    const register = (): Promise<Sample> =>
      samplePeer(peer, (turn) => post(`/nacos/v1/ns/instance?${instance(turn % 10_000)}`, ""));
    const lookUp = (): Promise<Sample> =>
      samplePeer(peer, (turn) => get(`/nacos/v1/ns/instance/list?serviceName=service-${(turn * 7919) % 1_000}`));
    // A turn is short: until everything is there, in case it ends before all 10,000 were sent once.
    await load({
      url: peer.url,
      connections,
      durationMs: 6_000,
      request: (turn) => post(`/nacos/v1/ns/instance?${instance(turn % 10_000)}`, ""),
    });
    const [, registered, durableRegistrationToRnacosInMemory] = await inTurns(
      () => sample(durable, nextRegistration()),
      register,
    );
    const [, looked, lookupToRnacos] = await inTurns(
      () =>
        sample(server, (turn) =>
          get(`/api/v1/capabilities?serviceName=service-${(turn * 7919) % 1_000}&serviceType=tool-invoker`),
        ),
      lookUp,
    );
    const [, , batchedLookupToRnacos] = await inTurns(
      async () => perItem(await sample(server, hundredQuestions(1_000)), 100),
      lookUp,
    );
    rows.push(rowOf("r-nacos: registration, in memory", registered));
    rows.push(rowOf("r-nacos: lookup by name, 10k services", looked));
    const ratios = { lookupToRnacos, batchedLookupToRnacos, durableRegistrationToRnacosInMemory };
    return { version: versionOf(file, "--version"), ratios };
  } finally {
    peer.stop();
    server.stop();
    durable.stop();
  }
}

async function measureConsul(
  rows: Row[],
): Promise<Compared<"durableRegistrationToConsul" | "lookupToConsul"> | undefined> {
  const file = findPeer("consul");
  if (file === undefined) return undefined;
  const peer = await startConsul(file);
  const server = await startServer({ kind: "registry", entries: 10_000, isDurable: false });
  const durable = await startServer({ kind: "registry", entries: 0, isDurable: true });
  try {
    const registration = (turn: number): string =>
      JSON.stringify({
        Node: `n${turn % 100}`,
        Address: "10.0.0.1",
        Service: { ID: idOf(turn), Service: `service-${turn % 1_000}`, Address: "10.0.0.1", Port: turn % 65_536 },
      });
    const [, registered, durableRegistrationToConsul] = await inTurns(
      () => sample(durable, nextRegistration()),
      () => samplePeer(peer, (turn) => post("/v1/catalog/register", registration(turn), "PUT")),
    );
    const [, looked, lookupToConsul] = await inTurns(
      () =>
        sample(server, (turn) =>
          get(`/api/v1/capabilities?serviceName=service-${(turn * 7919) % 1_000}&serviceType=tool-invoker`),
        ),
      () => samplePeer(peer, (turn) => get(`/v1/health/service/service-${(turn * 7919) % 1_000}?stale`)),
    );
    rows.push(rowOf("Consul: registration, on disk", registered));
    rows.push(rowOf("Consul: lookup by name", looked));
    return { version: versionOf(file, "version"), ratios: { durableRegistrationToConsul, lookupToConsul } };
  } finally {
    peer.stop();
    server.stop();
    durable.stop();
  }
}

async function samplePeer(peer: Peer, request: (turn: number) => string): Promise<Sample> {
  const before = peer.cpuMicroseconds();
  const result = await load({ url: peer.url, connections, durationMs, request });
  return { result, cpuMicroseconds: (peer.cpuMicroseconds() - before) / result.operations };
}

/** Every call begins where the last one ended: each registration is of a new service. */
let registrations = 0;
const nextRegistration = (): ((turn: number) => string) => () => registrationOf(registrations++);

function registrationOf(turn: number): string {
  const target = { serviceName: `s${turn % 1000}`, host: "10.0.0.1", port: turn % 65_536, serviceType: "tool-invoker" };
  return post(discovery, JSON.stringify({ id: idOf(turn), ...target }));
}

const hundredQuestions =
  (names: number) =>
  (turn: number): string => {
    const questions = Array.from({ length: 100 }, (_, index) => ({
      serviceName: `service-${((turn * 100 + index) * 7919) % names}`,
      serviceType: "tool-invoker",
    }));
    return post("/api/v1/resolve", JSON.stringify(questions));
  };

interface Sample {
  readonly result: LoadResult;
  readonly cpuMicroseconds: number;
}

async function sample(server: Server, request: (turn: number) => string): Promise<Sample> {
  const before = await server.cpuMicroseconds();
  const result = await load({ url: server.url, connections, durationMs, request });
  return { result, cpuMicroseconds: ((await server.cpuMicroseconds()) - before) / result.operations };
}

async function bytesPerInstance({ url }: Server): Promise<number> {
  const response = await fetch(`${url}/bench/memory`);
  return Math.round(((await response.json()) as { bytesPerInstance: number }).bytesPerInstance);
}

const median = (samples: readonly Sample[]): Sample => {
  const sorted = samples.toSorted((a, b) => a.cpuMicroseconds - b.cpuMicroseconds);
  const middle = sorted[sorted.length >> 1];
  if (!middle) throw new Error("nothing was measured");
  return middle;
};

/** Each turn against the one beside it: on a busy machine times drift, and neighbours drift together. */
function pairedRatio(ours: readonly Sample[], theirs: readonly Sample[]): number {
  const ratios = ours.map(({ cpuMicroseconds }, index) => cpuMicroseconds / (theirs[index]?.cpuMicroseconds ?? 1));
  return round(ratios.sort((a, b) => a - b)[ratios.length >> 1] ?? Number.NaN);
}

const perItem = ({ result, cpuMicroseconds }: Sample, items: number): Sample => ({
  result: { ...result, perSecond: result.perSecond * items },
  cpuMicroseconds: cpuMicroseconds / items,
});

const rowOf = (name: string, { result, cpuMicroseconds }: Sample): Row => ({
  name,
  perSecond: Math.round(result.perSecond),
  cpuMicroseconds: round(cpuMicroseconds),
  p50Ms: round(result.p50Ms),
  p99Ms: round(result.p99Ms),
});

const round = (value: number): number => Number(value.toPrecision(3));

interface Server {
  readonly url: string;
  readonly bytesPerInstance: number;
  cpuMicroseconds(): Promise<number>;
  stop(): void;
}

async function startServer(settings: ServerSettings): Promise<Server> {
  const script = fileURLToPath(new URL("registry/server.ts", import.meta.url));
  const args = ["--expose-gc", "--max-old-space-size=6000", script, JSON.stringify(settings)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, bytesPerInstance = 0 } = JSON.parse(line) as { url: string; bytesPerInstance?: number };
    return {
      url,
      bytesPerInstance,
      async cpuMicroseconds() {
        const response = await fetch(`${url}/bench/usage`);
        return ((await response.json()) as { cpuMicroseconds: number }).cpuMicroseconds;
      },
      stop: () => void child.kill("SIGKILL"),
    };
  }
  throw new Error("the benchmark's server did not start");
}
