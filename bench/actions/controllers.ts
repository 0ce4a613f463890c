// The executor and the remediation controller in a process of their own, as on a cluster, so that writes, CPU and memory are
// theirs alone. bench/actions/stood-in.ts starts it and asks by messages.
import { auditSigner, newAuditKey } from "../../src/audit/signing-key.ts";
import { openAuditTrail } from "../../src/audit/trail.ts";
import { verifyTrail } from "../../src/audit/verify.ts";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { actionExecutor } from "../../src/controllers/action-executor/controller.ts";
import { defaultSettings } from "../../src/controllers/action-executor/evaluate.ts";
import { remediationController } from "../../src/controllers/remediation/controller.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import { createManager } from "../../src/runtime/manager.ts";
import { MetricsRegistry } from "../../src/runtime/metrics.ts";
import { openSqlite } from "../../src/store/sqlite-database.ts";

export interface Reading {
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Requests that change something, by verb and kind; events and access reviews, which are questions, left out. */
  readonly writes: Readonly<Record<string, number>>;
  readonly auditRows: number;
  readonly auditProblems: number;
}

const [kubeconfig = "", file = ""] = process.argv.slice(2);
const env = systemEnv;
const { client, close } = await clientFromKubeconfig({ env, paths: [kubeconfig] });
const database = await openSqlite(file);
const signer = auditSigner(newAuditKey());
const audit = await openAuditTrail({ env, database, signer });
const writes: Record<string, number> = {};
const metrics = new MetricsRegistry();
const manager = createManager({ env, client: counted(client), metrics, concurrency: 16 });
manager.add(actionExecutor({ env, metrics, audit, settings: { ...defaultSettings, image: "capstan:bench" } }));
manager.add(remediationController({ metrics, coolDownMs: 0 }));
await manager.start();

process.on("message", (message) => {
  if (message === "stop") {
    void manager
      .stop()
      .then(close)
      .then(() => database.close())
      .then(() => process.exit(0));
    return;
  }
  void read().then((reading) => process.send?.(reading));
});
process.on("disconnect", () => process.exit(1));
process.send?.("ready");

async function read(): Promise<Reading> {
  const { user, system } = process.cpuUsage();
  const { entries, problems } = await verifyTrail(database, { verifiers: [signer] });
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return {
    cpuMs: (user + system) / 1_000,
    heapBytes: heapUsed,
    residentBytes: rss,
    writes: { ...writes },
    auditRows: entries,
    auditProblems: problems.length,
  };
}

function counted(given: Client): Client {
  const counting = <A extends readonly unknown[], R>(verb: string, call: (...given: A) => R): ((...given: A) => R) => {
    return (...args) => {
      const { kind } = args[0] as KindRef;
      const { subresource } = (args.at(-1) ?? {}) as { readonly subresource?: string };
      const name = `${verb} ${kind}${subresource ? `/${subresource}` : ""}`;
      if (kind !== "Event" && kind !== "SubjectAccessReview") writes[name] = (writes[name] ?? 0) + 1;
      return call(...args);
    };
  };
  const { create, apply, patch, update } = given;
  return {
    ...given,
    create: counting("create", create) as typeof create,
    apply: counting("apply", apply) as typeof apply,
    patch: counting("patch", patch) as typeof patch,
    update: counting("update", update) as typeof update,
    delete: counting("delete", given.delete) as typeof given.delete,
  };
}
