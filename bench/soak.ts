// The whole demo for as long as one likes, with something going on all the time: does anything grow? The heap is looked at
// after a full collection, and the last quarter of the samples is held against the first one. CAPSTAN_BENCH_MINUTES says
// how long (10), CAPSTAN_BENCH_PACE how many times as fast things happen (1; an hour passes in 60/pace minutes before the first
// look), CAPSTAN_BENCH_SNAPSHOTS an existing folder for heap snapshots, which `bench/soak/heap-difference.ts` compares.
import { mkdirSync, writeFileSync } from "node:fs";
import { soak } from "./soak/run.ts";
import { trendsOf } from "./soak/trend.ts";

export async function run(): Promise<void> {
  const minutes = Number(process.env["CAPSTAN_BENCH_MINUTES"] ?? 10);
  const pace = Number(process.env["CAPSTAN_BENCH_PACE"] ?? 1);
  const snapshotFolder = process.env["CAPSTAN_BENCH_SNAPSHOTS"];
  const { samples, done, events } = await soak({
    minutes,
    pace,
    ...(snapshotFolder !== undefined && { snapshotFolder }),
    onSample: (sample) =>
      console.log(
        Object.entries(sample)
          .map(([name, value]) => `${name} ${value.toFixed(1)}`)
          .join("  "),
      ),
  });
  const trends = trendsOf(samples);
  const rows = [
    { name: "minutes, after the first that count for warming up", value: `${minutes}` },
    ...Object.entries(done).map(([name, count]) => ({ name, value: `${count} times` })),
    { name: "Events that the API keeps at the end", value: `${events}` },
    ...trends.map(({ measure, first, last, limit }) => ({
      name: `${measure}: first quarter, last quarter (limit: ${limit.toFixed(1)})`,
      value: `${first.toFixed(1)}, ${last.toFixed(1)}, ${(last / first).toFixed(2)}x`,
    })),
    {
      name: "storeMb, which holds the audit trail: first, last",
      value: [samples[0], samples.at(-1)].map((s) => s?.storeMb.toFixed(1)).join(", "),
    },
  ];
  for (const { name, value } of rows) console.log(`${name.padEnd(80)} ${value}`);
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/soak.json", `${JSON.stringify(rows, null, 2)}\n`);
  const growing = trends.filter(({ grows }) => grows);
  if (growing.length > 0) throw new Error(`it grows: ${growing.map(({ measure }) => measure).join(", ")}`);
}
