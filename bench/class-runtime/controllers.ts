// The class runtime controllers in a process of their own, as on a cluster, so that their CPU and heap are theirs alone.
// bench/class-runtime.ts starts it and asks by messages.
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { classRuntimeControllers } from "../../src/controllers/class-runtime/controller.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import { createManager } from "../../src/runtime/manager.ts";

export interface Reading {
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly reconciles: number;
  /** Requests that change something, events left out: those tell what happened and are no state. */
  readonly writes: number;
  readonly events: number;
}

const [kubeconfig = ""] = process.argv.slice(2);
const env = systemEnv;
const { client, close } = await clientFromKubeconfig({ env, paths: [kubeconfig] });
const count = { writes: 0, events: 0 };
const manager = createManager({ env, client: counted(client), concurrency: 8 });
const [first] = classRuntimeControllers({ env }).map((controller) => manager.add(controller));
await manager.start();

/** What looking at the heap has cost so far, which is no work of the controllers. */
let readingMs = 0;

process.on("message", (message) => {
  if (message === "stop") {
    void manager
      .stop()
      .then(close)
      .then(() => process.exit(0));
    return;
  }
  const now = cpuMs();
  globalThis.gc?.();
  const reading: Reading = {
    cpuMs: now - readingMs,
    heapBytes: process.memoryUsage().heapUsed,
    reconciles: first?.reconciles ?? 0,
    ...count,
  };
  readingMs += cpuMs() - now;
  process.send?.(reading);
});
process.on("disconnect", () => process.exit(1));
process.send?.("ready");

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function counted(given: Client): Client {
  const counting = <A extends readonly unknown[], R>(call: (...given: A) => R): ((...given: A) => R) => {
    return (...args) => {
      if ((args[0] as KindRef).kind === "Event") count.events++;
      else count.writes++;
      return call(...args);
    };
  };
  const { create, apply, patch, update } = given;
  return {
    ...given,
    create: counting(create) as typeof create,
    apply: counting(apply) as typeof apply,
    patch: counting(patch) as typeof patch,
    update: counting(update) as typeof update,
    delete: counting(given.delete) as typeof given.delete,
  };
}
