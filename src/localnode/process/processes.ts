import { rm } from "node:fs/promises";
import type { Container } from "../../api/builtin/pod-spec.ts";
import type { PodLogs } from "../../apiserver/subresources/log.ts";
import type { Client } from "../../client/client.ts";
import type { Env } from "../../env/env.ts";
import type { ContainerRun, RunRequest } from "../pod/container-run.ts";
import { installCommand, isOwnImage } from "./capstan-command.ts";
import { LogStore } from "./log-store.ts";
import { placesIn } from "./places.ts";
import { podLogsFrom } from "./pod-logs.ts";
import type { Threads } from "./prepare.ts";
import { ProcessRecords } from "./process-records.ts";
import { runProcess } from "./process-run.ts";

/** The containers that really run on this machine, as processes or threads, with their files and logs. */
export interface Processes {
  isFor(container: Container): boolean;
  start(request: RunRequest): ContainerRun;
  readonly logs: PodLogs;
  /** Forgets all pods but these. */
  keepOnly(uids: ReadonlySet<string>): void;
  forget(uid: string): void;
}

export interface ProcessesOptions {
  readonly env: Env;
  readonly folder: string;
  readonly image: string;
  readonly which: "own" | "all";
  readonly command: readonly string[];
  readonly path: string;
  readonly threads: Threads;
  readonly nodeAddress: string;
  api(): { readonly client: Client; readonly serverUrl: string };
}

export function createProcesses(options: ProcessesOptions): Processes {
  const { env, image, which, nodeAddress, path, threads, api } = options;
  const places = placesIn(options.folder);
  const logs = new LogStore({ env, folderOf: (uid, container) => places.container(uid, container) });
  const records = new ProcessRecords(places);
  installCommand(places.bin, options.command);
  records.endLeftovers();
  // Most pods have no files at all, and need not be looked for on the disk.
  const withFiles = new Set(records.pods());
  const settings = { places, image, nodeAddress, path, threads, api };
  return {
    isFor: (container) =>
      isOwnImage(container.image, image) || (which === "all" && (container.command?.length ?? 0) > 0),
    start(request) {
      withFiles.add(request.pod.metadata.uid ?? "");
      return runProcess({ env, settings, logs, records }, request);
    },
    logs: podLogsFrom(env, logs),
    keepOnly: (uids) => records.keepOnly(uids),
    forget(uid) {
      if (withFiles.delete(uid)) void rm(places.pod(uid), { recursive: true, force: true }).catch(() => undefined);
    },
  };
}
