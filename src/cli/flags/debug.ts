import type { Command } from "commander";
import { parsePort, setting } from "../settings.ts";

/** Where a person looks inside the running process. */
export interface DebugFlags {
  readonly debugPort?: number;
}

export const withDebugFlags = (command: Command): Command =>
  command.addOption(
    setting(
      "--debug-port <port>",
      "serve heap snapshots, CPU profiles and the state of watches and queues, on 127.0.0.1 only; whoever reaches it sees everything",
    ).argParser(parsePort),
  );
