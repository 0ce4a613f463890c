// The demo in a process of its own, as `npm start` runs it, and a look inside through the inspector's protocol.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sample } from "./trend.ts";

export interface Demo {
  readonly kubeconfig: string;
  /** Dashboard and registry. */
  readonly http: string;
  /** With the one-time token. */
  readonly signInLink: string;
  sample(minute: number): Promise<Sample>;
  /** Bytes of the heap after a full collection, and of the buffers that it holds. */
  liveBytes(): Promise<number>;
  /** For `bench/soak/heap-difference.ts`, or a browser's developer tools. */
  writeHeapSnapshot(file: string): Promise<void>;
  stop(): Promise<void>;
}

/** What goes by itself goes after so many seconds: short, so that a run of minutes shows what hours would. */
export async function startDemo(keptSeconds: number): Promise<Demo> {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-soak-"));
  const ports = ["--api-port", "0", "--http-port", "0", "--grpc-port", "0"];
  const kept = ["--event-ttl", `${keptSeconds}s`, "--compaction-interval", `${keptSeconds}s`];
  const flags = ["--inspect=127.0.0.1:0", "--max-semi-space-size=2"];
  const program = [resolve("bin/capstan.mjs"), "up", "--demo", "--data-dir", dataDir, ...kept];
  const child = spawn(process.execPath, [...flags, ...program, ...ports], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-maxOutput);
    });
  const ready = join(dataDir, "ready.json");
  while (!existsSync(ready) || !output.includes("?token=")) {
    if (child.exitCode !== null) throw new Error(`the demo did not start:\n${output}`);
    await sleep(50);
  }
  const { pid, kubeconfig, http } = JSON.parse(readFileSync(ready, "utf8")) as Record<"kubeconfig" | "http", string> & {
    readonly pid: number;
  };
  // The program begins once more as itself, so the last address is the living one's.
  const inspector = await openInspector([...output.matchAll(/ws:\/\/\S+/g)].at(-1)?.[0] ?? "");
  const heapUsage = async () => {
    await inspector.ask("HeapProfiler.collectGarbage");
    return (await inspector.ask("Runtime.getHeapUsage")) as Record<"usedSize" | "backingStorageSize", number>;
  };
  return {
    kubeconfig,
    http,
    signInLink: /http:\S+\?token=\S+/.exec(output)?.[0] ?? "",
    async liveBytes() {
      const { usedSize, backingStorageSize } = await heapUsage();
      return usedSize + backingStorageSize;
    },
    async sample(minute) {
      const { usedSize } = await heapUsage();
      const counted = (await inspector.ask("Runtime.evaluate", {
        expression: "process.getActiveResourcesInfo().length",
      })) as { readonly result: { readonly value: number } };
      return {
        minute,
        rssMb: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
        heapMb: usedSize / megabyte,
        fileDescriptors: readdirSync(`/proc/${pid}/fd`).length,
        handles: counted.result.value,
        apiMb: megabytesOf(join(dataDir, "api.db")),
        storeMb: megabytesOf(join(dataDir, "capstan.db")),
      };
    },
    async writeHeapSnapshot(file) {
      const expression = `process.getBuiltinModule("node:v8").writeHeapSnapshot(${JSON.stringify(resolve(file))})`;
      await inspector.ask("Runtime.evaluate", { expression });
    },
    async stop() {
      inspector.close();
      await ended(child);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const megabyte = 1024 * 1024;
const maxOutput = 64 * 1024;

/** With its journal, which is part of it. */
const megabytesOf = (file: string): number =>
  [file, `${file}-wal`].reduce((total, path) => total + (existsSync(path) ? statSync(path).size : 0), 0) / megabyte;

async function ended(child: ChildProcess): Promise<void> {
  const closed = new Promise<number | null>((done) => child.once("close", done));
  child.kill("SIGINT");
  const code = await closed;
  if (code !== 0) throw new Error(`the demo ended with ${code}`);
}

interface Inspector {
  ask(method: string, params?: object): Promise<unknown>;
  close(): void;
}

async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  await new Promise<void>((open, refused) => {
    socket.addEventListener("open", () => open());
    socket.addEventListener("error", () => refused(new Error(`nothing answers at ${url}`)));
  });
  return {
    ask(method, params = {}) {
      const id = ++lastId;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((answer) => waiting.set(id, answer));
    },
    close: () => socket.close(),
  };
}
