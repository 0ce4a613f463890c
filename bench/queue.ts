// The work queue with 1,000,000 keys: add all, then get and done each, without and with priorities. The peers are
// client-go's work queue and controller-runtime's priority queue, where Go is present; their program is written to a
// temporary folder and built there.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemEnv } from "../src/env/system.ts";
import { MetricsRegistry } from "../src/runtime/metrics.ts";
import { WorkQueue } from "../src/runtime/queue.ts";

const keyCount = 1_000_000;
const rounds = 5;
/** Few distinct priorities, as controllers use them. */
const priorities = [0, -100, 10, 0, 0];

export async function run(): Promise<void> {
  const ours = { plain: measure(false), priorities: measure(true) };
  const peers = measureGo();
  const ratios = peers && {
    "plain, against client-go's work queue": ratiosOf(peers.clientGo.plain, ours.plain),
    "plain, against controller-runtime's priority queue": ratiosOf(peers.priorityQueue.plain, ours.plain),
    "priorities, against controller-runtime's priority queue": ratiosOf(
      peers.priorityQueue.priorities,
      ours.priorities,
    ),
  };
  const result = {
    keys: keyCount,
    rounds,
    nanosecondsPerKey: { ours, ...peers },
    ...(ratios && { ratios }),
    node: process.version,
  };
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/queue.json", `${JSON.stringify(result, null, 2)}\n`);
  console.log(`${keyCount} keys, add + get + done, best of ${rounds}, ns per key: passed by / of processor time`);
  const print = (name: string, { wall, cpu }: Cost): void => console.log(`  ${name.padEnd(52)} ${wall} / ${cpu}`);
  print("ours, plain", ours.plain);
  print("ours, priorities", ours.priorities);
  if (peers === undefined || ratios === undefined) {
    console.log("  no Go here, so there is no peer to compare with");
    return;
  }
  print("client-go's work queue, plain", peers.clientGo.plain);
  print("controller-runtime's priority queue, plain", peers.priorityQueue.plain);
  print("controller-runtime's priority queue, priorities", peers.priorityQueue.priorities);
  console.log("times as fast, by time that passed / by processor time");
  for (const [name, cost] of Object.entries(ratios)) print(name, cost);
}

/** Time that passed depends on who else uses the machine; processor time much less. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

/** The best round: noise only ever adds. */
function measure(withPriorities: boolean): Cost {
  const keys = Array.from({ length: keyCount }, (_, index) => `namespace-${index % 100}/object-${index}`);
  const best = { wall: Number.POSITIVE_INFINITY, cpu: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round++) {
    const queue = new WorkQueue({ env: systemEnv, name: "bench", metrics: new MetricsRegistry() });
    const cpuBefore = process.cpuUsage();
    const startedAt = process.hrtime.bigint();
    for (let index = 0; index < keyCount; index++) {
      const key = keys[index] ?? "";
      if (withPriorities) queue.add(key, { priority: priorities[index % priorities.length] ?? 0 });
      else queue.add(key);
    }
    let taken = 0;
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
      queue.done(item);
      taken++;
    }
    const wallNs = Number(process.hrtime.bigint() - startedAt);
    const { user, system } = process.cpuUsage(cpuBefore);
    if (taken !== keyCount) throw new Error(`${taken} keys came out instead of ${keyCount}`);
    best.wall = Math.min(best.wall, Math.round(wallNs / keyCount));
    best.cpu = Math.min(best.cpu, Math.round(((user + system) * 1000) / keyCount));
    queue.shutDown();
  }
  return best;
}

interface Peers {
  readonly clientGo: { readonly plain: Cost };
  readonly priorityQueue: { readonly plain: Cost; readonly priorities: Cost };
}

function measureGo(): Peers | undefined {
  if (spawnSync("go", ["version"]).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "capstan-bench-queue-"));
  try {
    writeFileSync(join(folder, "go.mod"), goModule);
    writeFileSync(join(folder, "main.go"), goProgram);
    for (const args of [
      ["mod", "tidy"],
      ["build", "-o", "bench", "."],
    ]) {
      const built = spawnSync("go", args, { cwd: folder, encoding: "utf8", timeout: 600_000 });
      if (built.status !== 0) throw new Error(`go ${args.join(" ")} failed: ${built.stderr}`);
    }
    const ran = spawnSync(join(folder, "bench"), { encoding: "utf8", timeout: 300_000 });
    if (ran.status !== 0) throw new Error(`the Go benchmark failed: ${ran.stderr}`);
    return JSON.parse(ran.stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ratiosOf = (peer: Cost, ours: Cost): Cost => ({
  wall: ratio(peer.wall, ours.wall),
  cpu: ratio(peer.cpu, ours.cpu),
});
const ratio = (peer: number, ours: number): number => Math.round((peer / ours) * 100) / 100;

const goModule = `module bench

go 1.25

require (
	k8s.io/client-go v0.36.0
	sigs.k8s.io/controller-runtime v0.24.1
)
`;

const goProgram = `package main

import (
	"fmt"
	"math"
	"syscall"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

const keyCount = ${keyCount}
const rounds = ${rounds}

var priorities = []int{${priorities.join(", ")}}

func main() {
	keys := make([]string, keyCount)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/object-%d", i%100, i)
	}
	plain := best(func() {
		q := workqueue.NewTyped[string]()
		for _, k := range keys {
			q.Add(k)
		}
		for i := 0; i < keyCount; i++ {
			k, _ := q.Get()
			q.Done(k)
		}
		q.ShutDown()
	})
	priorityPlain := best(func() {
		q := priorityqueue.New[string]("plain")
		for _, k := range keys {
			q.Add(k)
		}
		drain(q)
	})
	priorityMixed := best(func() {
		q := priorityqueue.New[string]("mixed")
		for i, k := range keys {
			p := priorities[i%len(priorities)]
			q.AddWithOpts(priorityqueue.AddOpts{Priority: &p}, k)
		}
		drain(q)
	})
	fmt.Printf("{\\"clientGo\\":{\\"plain\\":%s},\\"priorityQueue\\":{\\"plain\\":%s,\\"priorities\\":%s}}", plain, priorityPlain, priorityMixed)
}

func drain(q priorityqueue.PriorityQueue[string]) {
	for i := 0; i < keyCount; i++ {
		k, _, _ := q.GetWithPriority()
		q.Done(k)
	}
	q.ShutDown()
}

func best(round func()) string {
	wall, cpu := math.MaxFloat64, math.MaxFloat64
	for i := 0; i < rounds; i++ {
		cpuStart := processorTime()
		start := time.Now()
		round()
		wall = math.Min(wall, float64(time.Since(start).Nanoseconds())/keyCount)
		cpu = math.Min(cpu, float64(processorTime()-cpuStart)/keyCount)
	}
	return fmt.Sprintf("{\\"wall\\":%.0f,\\"cpu\\":%.0f}", wall, cpu)
}

func processorTime() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}
`;
