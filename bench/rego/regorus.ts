/** regorus, the independent engine in Rust: a small program around its library, built with cargo. */
import { execFileSync } from "node:child_process";
import { build, versions } from "./built.ts";
import type { BenchCase } from "./cases.ts";
import type { PeerResult } from "./peer.ts";

const manifest = `[package]
name = "bench"
version = "0.1.0"
edition = "2021"

[dependencies]
regorus = "=${versions.regorus}"
serde_json = "1"

[profile.release]
opt-level = 3
lto = true
`;

const program = `use regorus::{CompiledPolicy, Engine, Value};
use std::io::Read;
use std::time::Instant;

fn prepare(file: &str, source: &str, query: &str, data: &str) -> CompiledPolicy {
    let mut engine = Engine::new();
    engine.add_policy(file.to_string(), source.to_string()).unwrap();
    engine.add_data(Value::from_json_str(data).unwrap()).unwrap();
    engine.compile_with_entrypoint(&query.into()).unwrap()
}

fn percentile(times: &mut Vec<u64>, percent: usize) -> u64 {
    times.sort();
    times[times.len() * percent / 100]
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let cases: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut results = Vec::new();
    for case in cases.as_array().unwrap() {
        let (file, source) = (case["file"].as_str().unwrap(), case["source"].as_str().unwrap());
        let (query, data) = (case["query"].as_str().unwrap(), case["data"].to_string());
        let inputs: Vec<Value> = case["inputs"].as_array().unwrap().iter()
            .map(|input| Value::from_json_str(&input.to_string()).unwrap()).collect();
        let mut colds = Vec::new();
        for _ in 0..20 {
            let start = Instant::now();
            prepare(file, source, query, &data);
            colds.push(start.elapsed().as_nanos() as u64);
        }
        let policy = prepare(file, source, query, &data);
        let decide = |index: usize| policy.eval_with_input(inputs[index % inputs.len()].clone()).unwrap();
        for index in 0..3000 {
            decide(index);
        }
        let mut times = Vec::new();
        for index in 0..10000 {
            let start = Instant::now();
            decide(index);
            times.push(start.elapsed().as_nanos() as u64);
        }
        let answers: Vec<String> = (0..inputs.len())
            .map(|index| match decide(index) {
                Value::Undefined => "undefined".to_string(),
                value => value.to_json_str().unwrap(),
            })
            .collect();
        results.push(serde_json::json!({
            "name": case["name"], "p50Ns": percentile(&mut times, 50), "p99Ns": percentile(&mut times, 99),
            "coldNs": percentile(&mut colds, 50), "answers": answers,
        }));
    }
    println!("{}", serde_json::Value::Array(results));
}
`;

export function measureRegorus(cases: readonly BenchCase[]): readonly PeerResult[] | undefined {
  const binary = build({
    name: "regorus",
    files: { "Cargo.toml": manifest, "src/main.rs": program },
    commands: [["cargo", "build", "--release", "--quiet"]],
    result: "target/release/bench",
  });
  if (binary === undefined) return undefined;
  const output = execFileSync(binary, { input: JSON.stringify(cases), encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(output) as PeerResult[];
}
