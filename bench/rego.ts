/**
 * Time per decision: a prepared query on the executor's policies, RBAC and Kubernetes admission, against OPA in process
 * (Go) and OPA over HTTP, with the same inputs in one run. Not slower than OPA in process (p50) is the target.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile, type RegoEnv } from "../src/rego/index.ts";
import { toJsonText } from "../src/rego/values/json.ts";
import { type BenchCase, benchCases } from "./rego/cases.ts";
import { measureOpaHttp } from "./rego/opa-http.ts";
import { measureOpaInProcess } from "./rego/opa-in-process.ts";

const env: RegoEnv = {
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
  random: Math.random,
  uuid: randomUUID,
};

interface Row {
  readonly case: string;
  readonly engine: string;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly coldMs: number | undefined;
  /** p50 of the peer divided by ours: above 1 means that we are faster. */
  readonly timesSlowerThanCapstan: number;
}

interface Measured {
  readonly p50Ns: number;
  readonly p99Ns: number;
  readonly coldNs: number;
  readonly answers: readonly string[];
}

export async function run(): Promise<void> {
  const own = new Map(benchCases.map((item) => [item.name, measureCapstan(item)]));
  const inProcess = measureOpaInProcess(benchCases);
  const overHttp = await measureOpaHttp(benchCases);
  const rows: Row[] = [];
  for (const item of benchCases) {
    const ours = own.get(item.name);
    if (ours === undefined) continue;
    rows.push(row(item, "capstan", ours, ours));
    const opa = inProcess?.find(({ name }) => name === item.name);
    if (opa !== undefined) {
      const differing = opa.answers.findIndex((answer, index) => answer !== ours.answers[index]);
      if (differing !== -1) {
        throw new Error(
          `${item.name}: input ${differing} gives ${ours.answers[differing]}, OPA says ${opa.answers[differing]}`,
        );
      }
      rows.push(row(item, "OPA in process", opa, ours));
    }
    const http = overHttp?.find(({ name }) => name === item.name);
    if (http !== undefined) rows.push(row(item, "OPA over HTTP", http, ours));
  }
  console.log("case            engine            p50 µs     p99 µs    cold ms   × capstan");
  for (const { case: name, engine, p50Us, p99Us, coldMs, timesSlowerThanCapstan } of rows) {
    console.log(
      `${name.padEnd(15)} ${engine.padEnd(15)} ${p50Us.toFixed(1).padStart(8)} ${p99Us.toFixed(1).padStart(10)} ${(coldMs?.toFixed(2) ?? "").padStart(10)} ${timesSlowerThanCapstan.toFixed(2).padStart(11)}`,
    );
  }
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "rego.json"), `${JSON.stringify({ rows }, undefined, 2)}\n`);
}

function row(
  item: BenchCase,
  engine: string,
  peer: Omit<Measured, "coldNs" | "answers"> & { readonly coldNs?: number },
  ours: Measured,
): Row {
  return {
    case: item.name,
    engine,
    p50Us: round(peer.p50Ns / 1e3),
    p99Us: round(peer.p99Ns / 1e3),
    coldMs: peer.coldNs === undefined ? undefined : round(peer.coldNs / 1e6),
    timesSlowerThanCapstan: round(peer.p50Ns / ours.p50Ns),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function measureCapstan(item: BenchCase): Measured {
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
  times.sort((left, right) => left - right);
  colds.sort((left, right) => left - right);
  const answers = item.inputs.map((_, index) => {
    const value = decide(index);
    return value === undefined ? "undefined" : toJsonText(value);
  });
  return { p50Ns: times[5000] ?? 0, p99Ns: times[9900] ?? 0, coldNs: colds[10] ?? 0, answers };
}
