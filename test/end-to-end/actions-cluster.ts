import type { TestContext } from "node:test";
import { ConfigMap, Secret } from "../../src/api/builtin/configuration.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { builtinKinds } from "../../src/api/builtin/kinds.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { findKind } from "../../src/api/kinds.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import { auditSigner, newAuditKey } from "../../src/audit/signing-key.ts";
import { type AuditTrail, openAuditTrail } from "../../src/audit/trail.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { installKinds } from "../../src/control-plane/install.ts";
import { guardObjects } from "../../src/controllers/action-executor/approval/admission-policies.ts";
import { stampingWebhooks, webhookObject } from "../../src/controllers/action-executor/approval/webhook.ts";
import { carryOut } from "../../src/controllers/action-executor/carry-out.ts";
import { actionExecutor } from "../../src/controllers/action-executor/controller.ts";
import { defaultSettings, type Settings } from "../../src/controllers/action-executor/evaluate.ts";
import { actionObjects } from "../../src/controllers/action-executor/install.ts";
import { jobNamespace, policyConfigMap, systemNamespace } from "../../src/controllers/action-executor/names.ts";
import {
  decodeOrder,
  encodeResult,
  type Order,
  type OrderResult,
} from "../../src/controllers/action-executor/order.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { parsedOrThrow } from "../../src/kube/parsed.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { type Logger, silentLogger } from "../../src/runtime/log.ts";
import { createManager, type Manager } from "../../src/runtime/manager.ts";
import { MetricsRegistry } from "../../src/runtime/metrics.ts";
import type { Tracing } from "../../src/runtime/tracing.ts";
import { createWebhookHandler } from "../../src/runtime/webhook.ts";
import type { Database } from "../../src/store/database.ts";
import { openSqlite } from "../../src/store/sqlite-database.ts";

const env = systemEnv;
const controllerUser = "capstan-controllers";
export const signer = auditSigner(newAuditKey());

/** An embedded API in memory with everything that actions need; the Job controller is stood in for, the effects are real. */
export interface ActionCluster {
  readonly admin: Client;
  readonly database: Database;
  readonly handler: HttpHandler;
  /** Without anybody signed in. */
  readonly raw: HttpHandler;
  /** Orders that were carried out, in order, dry runs included. */
  readonly carriedOut: readonly Order[];
  /** What a user of that name sees, with the groups given. */
  as(token: string): Client;
  /** Starts the controllers; with a transport of one's own, faults can be put in between. */
  start(options?: StartOptions): Promise<Manager>;
  apply(...objects: readonly KubeObject[]): Promise<void>;
  /** Runs what Jobs there are; what a Job controller and a kubelet would do. */
  runJobs(options?: JobBehaviour): Promise<number>;
}

export interface StartOptions {
  readonly settings?: Partial<Settings>;
  readonly transport?: HttpHandler;
  readonly controllers?: (options: { readonly metrics: MetricsRegistry }) => readonly Controller[];
  readonly metrics?: MetricsRegistry;
  /** Where faults of the trail are put in. */
  readonly around?: (trail: AuditTrail) => AuditTrail;
  readonly log?: Logger;
  readonly tracing?: Tracing;
}

export interface JobBehaviour {
  /** Pods that are started for each Job, one after the other. */
  readonly starts?: number;
  readonly withoutResult?: boolean;
  readonly withoutEffect?: boolean;
  readonly fails?: "Failed" | "DeadlineExceeded";
}

/** With `guarded`, admission stamps and guards: the webhook is called in process, the policies are the real ones. */
export async function startActionCluster(
  context: Pick<TestContext, "after">,
  users: readonly string[] = [],
  guarded = false,
): Promise<ActionCluster> {
  const tokens = [
    { token: "admin", user: { name: "admin", groups: ["system:masters"] } },
    { token: controllerUser, user: { name: controllerUser, groups: ["system:masters"] } },
    ...users.map((name) => ({ token: name, user: { name, groups: ["people"] } })),
  ];
  const controllerUsers = [controllerUser];
  const webhook = createWebhookHandler({
    env,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    webhooks: stampingWebhooks({ env, controllerUsers }),
  });
  const callWebhook = async (target: { readonly url: string | URL }, body: string): Promise<string> => {
    const { pathname } = new URL(target.url);
    const headers = { "content-type": "application/json" };
    const answer = await webhook({ method: "POST", target: pathname, headers, body: Buffer.from(body) } as never);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const server = await createApiServer({ env, file: ":memory:", tokens, callWebhook });
  const signedIn =
    (token: string, inner: HttpHandler = server.handle): HttpHandler =>
    (request) =>
      inner({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });
  const admin = createClient({ env, transport: signedIn("admin") });
  const database = await openSqlite(":memory:");
  const managers: Manager[] = [];
  const carriedOut: Order[] = [];
  await installKinds(admin, env);
  const apply = async (...objects: readonly KubeObject[]): Promise<void> => {
    for (const object of objects) {
      const group = object.apiVersion.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
      const kind =
        findKind(group, object.kind) ??
        builtinKinds.find((known) => known.group === group && known.kind === object.kind);
      if (kind === undefined) throw new Error(`no kind ${object.kind}`);
      await admin.apply(kind, object, { fieldManager: "test", force: true });
    }
  };
  await apply(...actionObjects());
  if (guarded) {
    await apply(...guardObjects({ controllerUsers, podUsers: ["admin"], image: "capstan:test" }));
    await apply(webhookObject({ caBundle: "test", url: "https://capstan.test" }));
  }
  context.after(async () => {
    for (const manager of managers) await manager.stop();
    await database.close();
    await server.close();
  });
  return {
    admin,
    database,
    handler: signedIn("admin"),
    raw: server.handle,
    carriedOut,
    apply,
    as: (token) => createClient({ env, transport: signedIn(token) }),
    async start(options = {}) {
      const metrics = options.metrics ?? new MetricsRegistry();
      const client = createClient({ env, transport: signedIn(controllerUser, options.transport ?? server.handle) });
      const { log, tracing } = options;
      const manager = createManager({ env, client, metrics, ...(log && { log }), ...(tracing && { tracing }) });
      const trail = await openAuditTrail({ env, database, signer, checkpointEvery: 10 });
      const audit = options.around?.(trail) ?? trail;
      const settings = { ...defaultSettings, image: "capstan:test", ...options.settings };
      manager.add(actionExecutor({ env, metrics, audit, settings }));
      for (const controller of options.controllers?.({ metrics }) ?? []) manager.add(controller);
      managers.push(manager);
      await manager.start();
      return manager;
    },
    async runJobs(behaviour = {}) {
      const { items } = await admin.list(Job, { namespace: jobNamespace });
      const waiting = items.filter(
        ({ status, metadata }) => !status?.conditions?.length && !metadata.deletionTimestamp,
      );
      for (const job of waiting) await runJob(job, behaviour);
      return waiting.length;
    },
  };

  async function runJob(job: Job, behaviour: JobBehaviour): Promise<void> {
    const { name } = job.metadata;
    const secret = await admin.get(Secret, { namespace: jobNamespace, name });
    const text = Buffer.from(secret.data?.["order.json"] ?? "", "base64").toString();
    const order = parsedOrThrow(decodeOrder(text));
    const serviceAccount = job.spec.template.spec.serviceAccountName ?? "";
    const token = await admin.createToken({ namespace: jobNamespace, name: serviceAccount });
    const client = createClient({ env, transport: signedIn(token) });
    let result: OrderResult | undefined;
    for (let start = 1; start <= (behaviour.starts ?? 1); start++) {
      if (behaviour.fails || behaviour.withoutEffect) break;
      carriedOut.push(order);
      result = await carryOut(order, { env, client, signal: new AbortController().signal });
      if (!behaviour.withoutResult) await writePod(job, encodeResult(result), result.outcome === "Refused" ? 2 : 0);
    }
    const failed =
      behaviour.fails ?? (result?.outcome === "Refused" || result?.outcome === "Failed" ? "Failed" : undefined);
    const time = new Date().toISOString().slice(0, 19);
    const condition = failed
      ? {
          type: "Failed",
          status: "True",
          reason: failed === "Failed" ? "PodFailurePolicy" : failed,
          message: "it failed",
        }
      : { type: "Complete", status: "True", reason: "CompletionsReached", message: "done" };
    await admin.patch(
      Job,
      { namespace: jobNamespace, name },
      {
        type: "merge",
        value: {
          status: {
            startTime: `${time}Z`,
            ...(failed
              ? { failed: 1 }
              : { completionTime: `${time}Z`, succeeded: 1, ready: 0, uncountedTerminatedPods: {} }),
            conditions: [
              { ...condition, type: failed ? "FailureTarget" : "SuccessCriteriaMet", lastTransitionTime: `${time}Z` },
              { ...condition, lastTransitionTime: `${time}Z` },
            ],
          },
        },
      },
      { subresource: "status" },
    );
  }

  async function writePod(job: Job, message: string, exitCode: number): Promise<void> {
    const { name, uid = "" } = job.metadata;
    const template = job.spec.template;
    const pod = await admin.create(Pod, {
      metadata: {
        generateName: `${name.slice(0, 50)}-`,
        namespace: jobNamespace,
        labels: { ...template.metadata?.labels },
        annotations: { ...template.metadata?.annotations },
        ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name, uid, controller: true }],
      },
      spec: template.spec,
    } as never);
    const time = `${new Date().toISOString().slice(0, 19)}Z`;
    const terminated = {
      exitCode,
      message,
      reason: exitCode === 0 ? "Completed" : "Error",
      startedAt: time,
      finishedAt: time,
    };
    const status = {
      name: "act",
      ready: false,
      restartCount: 0,
      image: "capstan:test",
      imageID: "",
      state: { terminated },
    };
    await admin.patch(
      Pod,
      { namespace: jobNamespace, name: pod.metadata.name },
      {
        type: "merge",
        value: { status: { phase: exitCode === 0 ? "Succeeded" : "Failed", containerStatuses: [status] } },
      },
      { subresource: "status" },
    );
  }
}

/** Puts other policies in force. */
export const setPolicies = (client: Client, data: Readonly<Record<string, string | null>>): Promise<unknown> =>
  client.patch(ConfigMap, { namespace: systemNamespace, name: policyConfigMap }, { type: "merge", value: { data } });
