// 10,000 objects of 1.2 KB in the cache: heap for each, the longest time that the event loop stood still while they came
// in, and how long it took; as pages and as a streamed list, against @kubernetes/client-node's informer on the same TLS
// server in the same run. The peer is installed into a temporary folder; server and peer are those of the client benchmark.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPeer, peerVersion, startServer } from "./client/peer-setup.ts";

const rounds = 5;
const maxHeapPerObject = 2_200;
const maxBlockRatio = 1 / 5;

export async function run(): Promise<void> {
  const folder = await installPeer();
  const server = await startServer();
  try {
    const options = { folder, url: server.url, ca: server.ca, namespace: "small", task: "cache" };
    const samples = { pages: [] as Answer[], stream: [] as Answer[], peer: [] as Answer[] };
    // Interleaved, and the median of each: on a busy machine a single block may be somebody else's.
    for (let round = 0; round < rounds; round++) {
      samples.pages.push(await measured("cache/ours.ts", { ...options, watchList: false }));
      samples.stream.push(await measured("cache/ours.ts", { ...options, watchList: true }));
      samples.peer.push(await measured("client/peer.mjs", options));
    }
    const pages = medians(samples.pages);
    const stream = medians(samples.stream);
    const peer = medians(samples.peer);
    const result = {
      objects: pages["size"],
      rounds,
      peer: `@kubernetes/client-node ${peerVersion}`,
      node: process.version,
      medians: { pages, stream, peer },
      ratios: {
        heap: ratio(pages, peer, "heapPerObject"),
        blockByPages: ratio(pages, peer, "blockMs"),
        blockByStream: ratio(stream, peer, "blockMs"),
        sync: ratio(pages, peer, "syncMs"),
      },
      goals: {
        [`heap per object ≤ ${maxHeapPerObject} bytes`]: value(pages, "heapPerObject") <= maxHeapPerObject,
        "longest block ≤ 1/5 of the peer's": ratio(pages, peer, "blockMs") <= maxBlockRatio,
      },
    };
    writeFileSync("bench/results/cache.json", `${JSON.stringify(result, null, 2)}\n`);
    print({ "ours, pages": pages, "ours, streamed list": stream, "client-node": peer });
    console.log(`ratios: ${JSON.stringify(result.ratios)}\ngoals: ${JSON.stringify(result.goals)}`);
  } finally {
    server.stop();
  }
}

type Answer = Readonly<Record<string, number>>;

const execute = promisify(execFile);
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const value = (answer: Answer, key: string): number => answer[key] ?? Number.NaN;
const ratio = (ours: Answer, peer: Answer, key: string): number =>
  Number((value(ours, key) / value(peer, key)).toPrecision(3));

async function measured(script: string, options: object): Promise<Answer> {
  const args = ["--expose-gc", file(script), JSON.stringify(options)];
  const { stdout } = await execute(process.execPath, args, { timeout: 120_000 });
  return JSON.parse(stdout) as Answer;
}

const medians = (answers: readonly Answer[]): Answer =>
  Object.fromEntries(
    Object.keys(answers[0] ?? {}).map((key) => {
      const sorted = answers.map((answer) => value(answer, key)).sort((a, b) => a - b);
      return [key, Number((sorted[sorted.length >> 1] ?? Number.NaN).toPrecision(4))];
    }),
  );

function print(rows: Readonly<Record<string, Answer>>): void {
  for (const [name, answer] of Object.entries(rows)) {
    const { heapPerObject = 0, blockMs = 0, syncMs = 0 } = answer;
    const get = answer["nanosecondsPerGet"] === undefined ? "" : `, ${answer["nanosecondsPerGet"]} ns per get`;
    console.log(
      `${name.padEnd(20)} ${heapPerObject} bytes each, longest block ${blockMs} ms, synced in ${syncMs} ms${get}`,
    );
  }
}
