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
  const result = {
    keys: keyCount,
    rounds,
    nanosecondsPerKey: { ours, ...peers },
    ...(peers && {
      ratios: {
        "plain, against client-go's work queue": ratio(peers.clientGo.plain, ours.plain),
        "plain, against controller-runtime's priority queue": ratio(peers.priorityQueue.plain, ours.plain),
        "priorities, against controller-runtime's priority queue": ratio(
          peers.priorityQueue.priorities,
          ours.priorities,
        ),
      },
    }),
    node: process.version,
  };
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/queue.json", `${JSON.stringify(result, null, 2)}\n`);
  console.log(`${keyCount} keys, add + get + done, best of ${rounds}, ns per key`);
  console.log(`  ours             plain ${ours.plain}  priorities ${ours.priorities}`);
  if (peers === undefined) console.log("  no Go here, so there is no peer to compare with");
  else {
    console.log(`  client-go        plain ${peers.clientGo.plain}`);
    console.log(
      `  controller-runtime priority queue  plain ${peers.priorityQueue.plain}  priorities ${peers.priorityQueue.priorities}`,
    );
    for (const [name, value] of Object.entries(result.ratios ?? {})) console.log(`  ${value}x as fast: ${name}`);
  }
}

/** The best round: noise only ever adds. */
function measure(withPriorities: boolean): number {
  const keys = Array.from({ length: keyCount }, (_, index) => `namespace-${index % 100}/object-${index}`);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const queue = new WorkQueue({ env: systemEnv, name: "bench", metrics: new MetricsRegistry() });
    const startedAt = process.hrtime.bigint();
    for (let index = 0; index < keyCount; index++) {
      const key = keys[index] ?? "";
      if (withPriorities) queue.add(key, { priority: priorities[index % priorities.length] ?? 0 });
      else queue.add(key);
    }
    let taken = 0;
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
      queue.done(item.key);
      taken++;
    }
    const tookNs = Number(process.hrtime.bigint() - startedAt);
    if (taken !== keyCount) throw new Error(`${taken} keys came out instead of ${keyCount}`);
    best = Math.min(best, tookNs / keyCount);
    queue.shutDown();
  }
  return Math.round(best);
}

interface Peers {
  readonly clientGo: { readonly plain: number };
  readonly priorityQueue: { readonly plain: number; readonly priorities: number };
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
	fmt.Printf("{\\"clientGo\\":{\\"plain\\":%d},\\"priorityQueue\\":{\\"plain\\":%d,\\"priorities\\":%d}}", plain, priorityPlain, priorityMixed)
}

func drain(q priorityqueue.PriorityQueue[string]) {
	for i := 0; i < keyCount; i++ {
		k, _, _ := q.GetWithPriority()
		q.Done(k)
	}
	q.ShutDown()
}

func best(round func()) int {
	least := math.MaxFloat64
	for i := 0; i < rounds; i++ {
		start := time.Now()
		round()
		least = math.Min(least, float64(time.Since(start).Nanoseconds())/keyCount)
	}
	return int(math.Round(least))
}
`;
