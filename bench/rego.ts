/**
 * Time per decision: a prepared query on the executor's policies, RBAC and Kubernetes admission, against OPA in process
 * (Go) and over HTTP, regorus (Rust) and opa-wasm, with the same inputs in one run; the way from source to a prepared
 * query is a row of its own. Not slower than OPA in process (p50) is the target.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile, type RegoEnv } from "../src/rego/index.ts";
import { toJsonText } from "../src/rego/values/json.ts";
import { versions } from "./rego/built.ts";
import { type BenchCase, benchCases } from "./rego/cases.ts";
import { measureOpaHttp } from "./rego/opa-http.ts";
import { measureOpaInProcess } from "./rego/opa-in-process.ts";
import { measureOpaWasm } from "./rego/opa-wasm.ts";
import { firstDifference, type PeerResult, percentile } from "./rego/peer.ts";
import { measureRegorus } from "./rego/regorus.ts";

const env: RegoEnv = {
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
  random: Math.random,
  uuid: randomUUID,
};

interface Row {
  readonly case: string;
  readonly engine: string;
  readonly measure: "decision" | "cold compile";
  readonly p50Us: number;
  readonly p99Us?: number;
  /** The peer's time (p50) divided by ours: above 1 means that we are faster. */
  readonly timesSlowerThanCapstan: number;
}

export async function run(): Promise<void> {
  const own = benchCases.map(measureCapstan);
  const peers: readonly (readonly [engine: string, results: readonly PeerResult[] | undefined])[] = [
    ["OPA in process", measureOpaInProcess(benchCases)],
    ["OPA over HTTP", await measureOpaHttp(benchCases)],
    ["regorus", measureRegorus(benchCases)],
    ["opa-wasm", await measureOpaWasm(benchCases)],
  ];
  const rows = own.flatMap((ours) => {
    const engines: (readonly [engine: string, result: PeerResult])[] = [["capstan", ours]];
    for (const [engine, results] of peers) {
      const theirs = results?.find(({ name }) => name === ours.name);
      if (theirs === undefined) continue;
      refuseDifferent(ours, theirs, engine);
      engines.push([engine, theirs]);
    }
    return [
      ...engines.map(([engine, result]) => decisionRow(engine, result, ours)),
      ...engines.flatMap(([engine, result]) => coldRow(engine, result, ours)),
    ];
  });
  show(rows);
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "rego.json"), `${JSON.stringify({ versions, rows }, undefined, 2)}\n`);
}

/** Engines that decide differently have nothing to compare. */
function refuseDifferent(ours: PeerResult, theirs: PeerResult, engine: string): void {
  const index = firstDifference(ours.answers, theirs.answers);
  if (index === -1) return;
  throw new Error(
    `${ours.name}: input ${index} gives ${ours.answers[index]}, ${engine} says ${theirs.answers[index] ?? "nothing"}`,
  );
}

function decisionRow(engine: string, result: PeerResult, ours: PeerResult): Row {
  return {
    case: ours.name,
    engine,
    measure: "decision",
    p50Us: round(result.p50Ns / 1e3),
    p99Us: round(result.p99Ns / 1e3),
    timesSlowerThanCapstan: round(result.p50Ns / ours.p50Ns),
  };
}

function coldRow(engine: string, { coldNs }: PeerResult, ours: PeerResult): readonly Row[] {
  if (coldNs === undefined) return [];
  const timesSlowerThanCapstan = round(coldNs / (ours.coldNs ?? coldNs));
  return [{ case: ours.name, engine, measure: "cold compile", p50Us: round(coldNs / 1e3), timesSlowerThanCapstan }];
}

function show(rows: readonly Row[]): void {
  console.log("case            engine           measure           p50 µs     p99 µs   × capstan");
  for (const { case: name, engine, measure, p50Us, p99Us, timesSlowerThanCapstan } of rows) {
    const numbers = [p50Us.toFixed(1), p99Us?.toFixed(1) ?? "", timesSlowerThanCapstan.toFixed(2)];
    console.log(
      `${name.padEnd(15)} ${engine.padEnd(16)} ${measure.padEnd(13)} ${numbers.map((text) => text.padStart(10)).join(" ")}`,
    );
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function measureCapstan(item: BenchCase): PeerResult {
  const prepare = () => compile([{ file: item.file, source: item.source }], { env }).query(item.query);
  const colds: number[] = [];
  for (let index = 0; index < 20; index++) {
    const start = process.hrtime.bigint();
    prepare();
    colds.push(Number(process.hrtime.bigint() - start));
  }
  const query = prepare();
  const decide = (index: number) =>
    query.evaluate({ input: item.inputs[index % item.inputs.length], data: item.data })[0]?.expressions[0]?.value;
  for (let index = 0; index < 3000; index++) decide(index);
  const times: number[] = [];
  for (let index = 0; index < 10_000; index++) {
    const start = process.hrtime.bigint();
    decide(index);
    times.push(Number(process.hrtime.bigint() - start));
  }
  const answers = item.inputs.map((_, index) => {
    const value = decide(index);
    return value === undefined ? "undefined" : toJsonText(value);
  });
  const [p50Ns, p99Ns, coldNs] = [percentile(times, 50), percentile(times, 99), percentile(colds, 50)];
  return { name: item.name, p50Ns, p99Ns, coldNs, answers };
}
