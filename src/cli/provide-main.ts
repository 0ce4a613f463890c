import { Command } from "commander";
import { obeyCollections } from "../env/threads.ts";
import { provideCommand } from "./commands/provide.ts";
import type { Signals } from "./signalled.ts";

/**
 * `capstan provide` alone: the demo's providers run beside everything else on a laptop, so they load no more than they need.
 * As a thread of the local node they get messages instead of signals.
 */
const { parentPort } = process.getBuiltinModule("node:worker_threads");
const signals: Signals | undefined = parentPort
  ? {
      on: (signal, listener) => parentPort.on("message", (message) => message === signal && listener()),
      exit: (code) => process.exit(code),
    }
  : undefined;
if (parentPort) obeyCollections();
await new Command("capstan").addCommand(provideCommand(signals)).parseAsync(process.argv);
parentPort?.close();
