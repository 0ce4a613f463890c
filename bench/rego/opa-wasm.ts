/** OPA's WebAssembly target: policies compiled by `opa build`, evaluated by OPA's own package for Node. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, versions } from "./built.ts";
import type { BenchCase } from "./cases.ts";
import { obtainOpa } from "./opa-http.ts";
import { type PeerResult, percentile } from "./peer.ts";

interface LoadedPolicy {
  setData(data: object): void;
  evaluate(input: object): readonly { readonly result: unknown }[];
}

type LoadPolicy = (wasm: Buffer) => Promise<LoadedPolicy>;

const opaWasm = "@open-policy-agent/opa-wasm";

export async function measureOpaWasm(cases: readonly BenchCase[]): Promise<readonly PeerResult[] | undefined> {
  const opa = obtainOpa();
  const folder = build({
    name: "opa-wasm",
    files: { "package.json": JSON.stringify({ private: true, dependencies: { [opaWasm]: versions.opaWasm } }) },
    commands: [["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]],
    result: `node_modules/${opaWasm}`,
  });
  if (opa === undefined || folder === undefined) return undefined;
  const { loadPolicy } = createRequire(join(folder, "package.json"))(folder) as { readonly loadPolicy: LoadPolicy };
  const results: PeerResult[] = [];
  for (const item of cases) results.push(await measure(item, opa, loadPolicy));
  return results;
}

async function measure(item: BenchCase, opa: string, loadPolicy: LoadPolicy): Promise<PeerResult> {
  const colds: number[] = [];
  let policy: LoadedPolicy | undefined;
  for (let attempt = 0; attempt < 5; attempt++) {
    const start = performance.now();
    policy = await loadPolicy(compileToWasm(item, opa));
    policy.setData(item.data);
    colds.push((performance.now() - start) * 1e6);
  }
  const decide = (index: number): unknown => policy?.evaluate(item.inputs[index % item.inputs.length] ?? {})[0]?.result;
  for (let index = 0; index < 3000; index++) decide(index);
  const times: number[] = [];
  for (let index = 0; index < 10_000; index++) {
    const start = process.hrtime.bigint();
    decide(index);
    times.push(Number(process.hrtime.bigint() - start));
  }
  const answers = item.inputs.map((_, index) => JSON.stringify(decide(index)) ?? "undefined");
  return {
    name: item.name,
    p50Ns: percentile(times, 50),
    p99Ns: percentile(times, 99),
    coldNs: percentile(colds, 50),
    answers,
  };
}

function compileToWasm(item: BenchCase, opa: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "capstan-opa-wasm-"));
  try {
    writeFileSync(join(folder, item.file), item.source);
    const entry = item.query.replace(/^data\./, "").replaceAll(".", "/");
    execFileSync(opa, ["build", "-t", "wasm", "-e", entry, "-o", "bundle.tar.gz", item.file], { cwd: folder });
    execFileSync("tar", ["-xzf", "bundle.tar.gz", "/policy.wasm"], { cwd: folder, stdio: "ignore" });
    return readFileSync(join(folder, "policy.wasm"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
