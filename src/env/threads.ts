import { MessageChannel, type MessagePort, Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Collects garbage and gives the emptied pages back, in this thread and in those that were started here. V8 collects only
 * while it allocates, so a thread that was busy once keeps what it no longer needs for as long as it is idle.
 */
export function collectEverywhere(): void {
  if (collect === undefined) {
    allowCollections();
    collect = collector();
  }
  collect();
  for (const bell of bells) bell.postMessage(undefined);
}

/** A thread that does what the function does. It is sent there as text, so it must use nothing from outside itself. */
export const startThread = (run: () => void, options: WorkerOptions = {}): Worker =>
  start(`(${collectWhenTold.toString()})(${collector.toString()});(${run.toString()})()`, { ...options, eval: true });

/** A thread that runs a module, which calls `obeyCollections` first. */
export const startModule = (file: string, options: WorkerOptions): Worker => start(file, options);
export const obeyCollections = (): void => collectWhenTold(collector);

const bells = new Set<MessagePort>();
let collect: (() => void) | undefined;

function start(program: string, options: WorkerOptions): Worker {
  const { port1: bell, port2: heard } = new MessageChannel();
  const thread = new Worker(program, {
    env: {},
    resourceLimits: belowCopying,
    ...options,
    // Early versions of Node 24 call SQLite experimental, once for every thread.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    workerData: heard,
    transferList: [heard],
  });
  bell.unref();
  bells.add(bell);
  thread.once("exit", () => {
    bells.delete(bell);
    bell.close();
  });
  return thread;
}

/** Far more than a thread of ours needs; from two gigabytes on, V8 would copy its builtins for each thread. */
const belowCopying = { maxOldGenerationSizeMb: 2000 };

/** Travels to threads as text. */
function collectWhenTold(make: () => () => void): void {
  const { workerData } = process.getBuiltinModule("node:worker_threads");
  const bell = workerData as MessagePort;
  let collectHere: (() => void) | undefined;
  bell.on("message", () => {
    collectHere ??= make();
    collectHere();
  });
  bell.unref();
}

/** A program that was not started with --expose-gc gets the function from a context that was. Travels to threads as text. */
function collector(): () => void {
  const rounds = 3;
  const gc = process.getBuiltinModule("node:vm").runInNewContext("globalThis.gc") as Collect | undefined;
  return () => {
    // The only kind of collection that also gives the emptied pages back.
    for (let round = 0; round < rounds; round++) gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  };
}
type Collect = (options: object) => void;

/** Flags are those of the whole process, so one thread sets them, once, and the others find them set. */
function allowCollections(): void {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--expose-gc");
  // Code that ran only while things were started goes, too, once it was not used between that many collections.
  setFlagsFromString("--bytecode-old-age=2");
  setFlagsFromString("--flush-baseline-code");
}
