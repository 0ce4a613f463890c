import { getHeapSnapshot, getHeapStatistics } from "node:v8";
import { type Env, sleep } from "../env/env.ts";
import type { HttpHandler, HttpResponse } from "../http/message.ts";
import { jsonReply, textReply } from "../http/reply.ts";
import type { Manager } from "./manager.ts";

/**
 * What is going on inside, for people who may see everything: heap snapshots contain Secrets, so whoever serves this
 * must ask for a credential first.
 *
 *     /debug/pprof/heap       a heap snapshot, for the Memory tab of Chrome's DevTools
 *     /debug/pprof/profile    a CPU profile, ?seconds=10
 *     /debug/memory           heap statistics
 *     /debug/runtime          watches, caches, queues and what each controller is doing
 */
export function createDiagnostics(env: Env, manager: Manager): HttpHandler {
  let profiling = false;
  return async (request) => {
    const url = new URL(request.target, "http://debug");
    if (request.method !== "GET") return textReply(405, "only GET is understood here\n", { allow: "GET" });
    switch (url.pathname) {
      case "/debug/pprof/heap":
        return download("heap.heapsnapshot", getHeapSnapshot());
      case "/debug/pprof/profile": {
        const seconds = Number(url.searchParams.get("seconds") ?? "10");
        if (!(seconds > 0 && seconds <= maxProfileSeconds)) {
          return textReply(400, `seconds: must be between 0 and ${maxProfileSeconds}\n`);
        }
        if (profiling) return textReply(409, "another profile is being taken\n");
        profiling = true;
        try {
          return jsonReply(200, await cpuProfile(env, seconds * 1000, request.signal), attachment("cpu.cpuprofile"));
        } finally {
          profiling = false;
        }
      }
      case "/debug/memory":
        return jsonReply(200, getHeapStatistics());
      case "/debug/runtime":
        return jsonReply(200, runtimeState(env, manager));
      default:
        return textReply(404, "there is nothing here\n");
    }
  };
}

const maxProfileSeconds = 300;

async function cpuProfile(env: Env, durationMs: number, signal: AbortSignal | undefined): Promise<unknown> {
  // Loaded only for those who ask.
  const { Session } = process.getBuiltinModule("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await sleep(env, durationMs, signal);
    const { profile } = await session.post("Profiler.stop");
    return profile;
  } finally {
    session.disconnect();
  }
}

/** The state of every watch, cache and queue, as data. */
export function runtimeState(env: Env, manager: Manager): unknown {
  const nowMs = env.monotonicMs();
  const age = (atMs: number | undefined): number | undefined =>
    atMs === undefined ? undefined : Math.round(nowMs - atMs);
  return {
    isLeader: manager.isLeader,
    informers: manager.informers.map(({ kind, scope, cache, health }) => ({
      kind: kind.kind,
      group: kind.group,
      scope,
      objects: cache.size,
      synced: cache.synced,
      state: health.state,
      absent: health.absent,
      resourceVersion: health.resourceVersion,
      lastEventAgeMs: age(health.lastEventAtMs),
      lastBookmarkAgeMs: age(health.lastBookmarkAtMs),
      consecutiveFailures: health.consecutiveFailures,
      ...(health.lastError instanceof Error && { lastError: health.lastError.message }),
      counts: health.counts,
    })),
    controllers: manager.controllers.map((running) => ({
      name: running.controller.name,
      waiting: running.queue.length,
      ready: running.queue.readyLength,
      processing: running.queue.processingKeys,
      reconciles: running.reconciles,
      usedPermissions: running.usedPermissions,
    })),
  };
}

const attachment = (name: string): Readonly<Record<string, string>> => ({
  "content-disposition": `attachment; filename="${name}"`,
});

function download(name: string, body: AsyncIterable<Uint8Array>): HttpResponse {
  return { status: 200, headers: { "content-type": "application/octet-stream", ...attachment(name) }, body };
}
