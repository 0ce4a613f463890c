import type { Command } from "commander";
import { type OutsideFlags, withOutsideFlags } from "../outside-flags.ts";
import { type ActionFlags, withActionFlags } from "./actions.ts";
import { type ClassRuntimeFlags, withClassRuntimeFlags } from "./class-runtimes.ts";
import { type DatabaseFlags, withDatabaseFlags } from "./database.ts";
import { type DebugFlags, withDebugFlags } from "./debug.ts";
import { type RegistryFlags, withRegistryFlags } from "./registry.ts";
import { type TraceFlags, withTraceFlags } from "./traces.ts";

/** What can be chosen about the systems, on a laptop and on a cluster alike. */
export type SystemFlags = OutsideFlags &
  ClassRuntimeFlags &
  ActionFlags &
  RegistryFlags &
  DatabaseFlags &
  TraceFlags &
  DebugFlags;

export const withSystemFlags = (command: Command): Command =>
  [
    withDatabaseFlags,
    withRegistryFlags,
    withClassRuntimeFlags,
    withActionFlags,
    withOutsideFlags,
    withTraceFlags,
    withDebugFlags,
  ].reduce((built, addFlags) => addFlags(built), command);
