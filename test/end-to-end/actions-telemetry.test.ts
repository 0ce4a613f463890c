import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { ClusterRole, ClusterRoleBinding } from "../../src/api/builtin/rbac.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { measuredAccounts } from "../../src/control-plane/action-account-metrics.ts";
import { ensureObjects } from "../../src/control-plane/ensure-objects.ts";
import { measuredTrail } from "../../src/control-plane/measured-trail.ts";
import { actionObjects } from "../../src/controllers/action-executor/install.ts";
import { jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { remediationController } from "../../src/controllers/remediation/controller.ts";
import { systemEnv } from "../../src/env/system.ts";
import { createLogger } from "../../src/runtime/log.ts";
import { MetricsRegistry } from "../../src/runtime/metrics.ts";
import { createTracing } from "../../src/runtime/tracing.ts";
import { StoreError } from "../../src/store/store-error.ts";
import { type ActionCluster, type JobBehaviour, setPolicies, startActionCluster } from "./actions-cluster.ts";
import { asAdmin, deployment, execution, namespace, scale, shop, thing } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";
import { recordingTracer } from "./recording-tracer.ts";

const env = systemEnv;

/** Every metric that upstream/kubernaut.md 2.5 names for actions: its type, its labels, and where its buckets begin and end. */
const upstream: readonly (readonly [
  name: string,
  type: string,
  labels: string,
  buckets?: readonly [number, number],
])[] = [
  ["kubernetesexecution_action_execution_total", "counter", "action,status"],
  ["kubernetesexecution_action_execution_duration_seconds", "histogram", "action", [0.5, 256]],
  ["kubernetesexecution_job_creation_total", "counter", "status"],
  ["kubernetesexecution_job_creation_duration_seconds", "histogram", "", [0.01, 5.12]],
  ["kubernetesexecution_job_execution_duration_seconds", "histogram", "action", [0.5, 256]],
  ["kubernetesexecution_job_active_total", "gauge", ""],
  ["kubernetesexecution_dryrun_validation_total", "counter", "action,status"],
  ["kubernetesexecution_dryrun_validation_duration_seconds", "histogram", "action", [0.5, 256]],
  ["kubernetesexecution_rbac_creation_duration_seconds", "histogram", "action", [0.01, 5.12]],
  ["kubernetesexecution_serviceaccount_creation_duration_seconds", "histogram", "action", [0.01, 5.12]],
  ["kubernetesexecution_per_action_success_rate", "gauge", "action"],
  ["kubernetesexecution_kubectl_command_execution_total", "counter", "command,status"],
  ["kubernetesexecution_kubectl_command_execution_duration_seconds", "histogram", "command", [0.5, 256]],
  ["kubernetes_executor_policy_evaluation_duration_seconds", "histogram", "result", [0.0005, 4.096]],
  ["kubernetes_executor_policy_evaluation_total", "counter", "result"],
  ["kubernetes_executor_policy_denials_total", "counter", "action,policy"],
  ["kubernetes_executor_policy_reloads_total", "counter", ""],
  ["kubernetes_executor_policy_reload_failures_total", "counter", ""],
  ["kubernaut_kubernetesexecutor_audit_storage_attempts_total", "counter", "status"],
  ["kubernaut_kubernetesexecutor_audit_storage_failures_total", "counter", "error_type"],
  ["kubernaut_kubernetesexecutor_audit_storage_duration_seconds", "histogram", "", [0.001, 5]],
  ["kubernaut_kubernetesexecutor_pending_audit_records", "gauge", ""],
  ["condition_evaluations_total", "counter", "kind,result"],
  ["workflowexecution_reconciler_total", "counter", "outcome"],
  ["workflowexecution_reconciler_duration_seconds", "histogram", "outcome", [5, 320]],
];

test("an operator sees what happens under the names that upstream's dashboards, searches and traces use", async (context) => {
  const metrics = new MetricsRegistry();
  const lines: Readonly<Record<string, unknown>>[] = [];
  const log = createLogger({ env, writeLine: (line) => void lines.push(JSON.parse(line)) });
  const { tracer, spans } = recordingTracer();
  const cluster = await startActionCluster(context);
  let trailIsAway = true;
  await cluster.start({
    metrics,
    log,
    tracing: createTracing(tracer),
    around: (trail) =>
      measuredTrail(env, metrics, {
        append: (records) => {
          if (!trailIsAway) return trail.append(records);
          trailIsAway = false;
          return Promise.reject(new StoreError("Unavailable", "the database is away for a moment"));
        },
      }),
    transport: (request) => cluster.raw(isJobOf("refused", request) ? { ...request, method: "PATCH" } : request),
    controllers: ({ metrics: registry }) => [remediationController({ metrics: registry, coolDownMs: 0 })],
  });
  await cluster.apply(namespace(shop), deployment("web", 3), deployment("api", 1));
  const reaches = (name: string, phase: string, jobs?: JobBehaviour): Promise<KubernetesExecution> =>
    eventually(
      async () => {
        if (jobs) await cluster.runJobs(jobs);
        return cluster.admin.get(KubernetesExecution, { namespace: shop, name });
      },
      ({ status }) => assert.equal(status?.phase, phase, `${status?.reason ?? ""} ${status?.message ?? ""}`),
    );

  await context.test("while its Job is under way it counts as active", async () => {
    await cluster.apply(scale("up", 5, withConditions, { ...asAdmin, "kubernaut.io/dry-run-first": "true" }));
    await reaches("up", "validating");
    await cluster.runJobs();
    await reaches("up", "executing");
    await eventually(
      async () => valuesOf(metrics),
      (values) => assert.equal(values.get("kubernetesexecution_job_active_total"), 1),
    );
    await reaches("up", "rollback_ready", {});
  });

  await otherEnds(cluster, reaches);
  await makeAccounts(cluster, metrics);

  await context.test("every metric is there, with its labels and buckets", async () => {
    await eventually(
      async () => metrics.expose(),
      (text) =>
        assert.deepEqual(
          upstream.map(([name]) => shapeOf(name, text)),
          upstream.map(wantedShape),
        ),
    );
    console.log(`metrics of upstream: ${upstream.length}, all written`);
  });

  await context.test("and counts what happened, once each", async () => {
    await eventually(
      async () => valuesOf(metrics),
      (values) =>
        assert.deepEqual(
          counted.map(([series]) => [series, values.get(series)]),
          counted.map((row) => [...row]),
        ),
    );
  });

  await context.test("the log says who, what and why, in fields", () => {
    for (const [message, level, wanted] of logLines) {
      const found = lines.filter((line) => line["message"] === message);
      const matching = found.filter((line) => Object.entries(wanted).every(([key, value]) => line[key] === value));
      const said = `${message} ${JSON.stringify(wanted)}; there is ${JSON.stringify(found)}`;
      assert.equal(matching.length, 1, said);
      assert.equal(matching[0]?.["level"], level, said);
      for (const field of ["time", "controller", "object", "kind", "reconcileID", "traceId"])
        assert.ok(matching[0]?.[field], `${message} has no ${field}`);
    }
    console.log(`lines of the log that were looked for: ${logLines.length}, each there once`);
  });

  await context.test("the spans lead from what was seen to what was written", () => {
    const ofUp = spans.filter(
      ({ name, attributes }) => name === "reconcile action-executor" && attributes["k8s.object.name"] === "up",
    );
    assert.deepEqual(ofUp[0]?.attributes, {
      "k8s.controller": "action-executor",
      "k8s.object.kind": "KubernetesExecution",
      "k8s.object.name": "up",
      "k8s.namespace.name": shop,
      "capstan.failures": 0,
    });
    const ids = new Set(ofUp.map(({ spanId }) => spanId));
    const children = spans.filter(({ parent }) => parent !== undefined && ids.has(parent));
    const written = [...new Set(children.map(({ name }) => name))].sort();
    assert.deepEqual(written, spansOfUp);
    const causes = new Set(ofUp.flatMap(({ links }) => links));
    const seen = new Set(spans.filter(({ spanId }) => causes.has(spanId)).map(({ name }) => name));
    assert.deepEqual(
      causesOfUp.filter((name) => !seen.has(name)),
      [],
      `seen were ${[...seen].sort().join(", ")}`,
    );
    assert.deepEqual(
      spans.filter(({ ended }) => !ended).map(({ name }) => name),
      [],
    );
    console.log(
      `spans: ${spans.length}, of them ${ofUp.length} reconciles of one execution and ${children.length} writes`,
    );
  });
});

const allow = (kind: string, holds: boolean): string => `package ${kind}\nimport rego.v1\nallow if ${holds}\n`;
const withConditions = {
  preConditions: [{ type: "there", rego: allow("precondition", true) }],
  postConditions: [{ type: "quick", rego: allow("postcondition", false), required: false, timeout: "0s" }],
};

type Reaches = (name: string, phase: string, jobs?: JobBehaviour) => Promise<KubernetesExecution>;

/** Denied, failed, refused by the server, without policies that work, and as the step of a workflow. */
async function otherEnds(cluster: ActionCluster, reaches: Reaches): Promise<void> {
  const restart = { action: "rollout_restart", parameters: { rolloutRestart: { deployment: "api", namespace: shop } } };
  await cluster.apply(scale("denied", 500, {}, asAdmin));
  await reaches("denied", "failed");
  await cluster.apply(execution("broken", restart, asAdmin));
  await reaches("broken", "failed", { fails: "Failed" });
  await cluster.apply(execution("refused", restart, asAdmin));
  await reaches("refused", "failed", {});
  await cluster.apply(...workflow);
  await eventually(
    async () => {
      await cluster.runJobs();
      return cluster.admin.get(RemediationRequest, { namespace: shop, name: "slow" });
    },
    ({ status }) => assert.equal(status?.overallPhase, "completed", status?.message),
  );
  await setPolicies(cluster.admin, { "broken.rego": "package kubernetesexecution.safety.broken\ndeny contains" });
  await cluster.apply(scale("kept", 4, {}, asAdmin));
  await reaches("kept", "rollback_ready", {});
  const fails = 'package kubernetesexecution.safety.broken\nimport rego.v1\ndeny contains "x" if to_number("y") == 1\n';
  await setPolicies(cluster.admin, { "broken.rego": fails });
  await cluster.apply(scale("unsure", 3, {}, asAdmin));
  await reaches("unsure", "failed");
}

/** As `capstan up` makes them where they are missing. */
async function makeAccounts({ admin }: ActionCluster, metrics: MetricsRegistry): Promise<void> {
  const name = "kubernaut-action-scale-deployment";
  await admin.delete(ServiceAccount, { namespace: jobNamespace, name });
  await admin.delete(ClusterRole, { name });
  await admin.delete(ClusterRoleBinding, { name });
  await ensureObjects(admin, actionObjects(), measuredAccounts(env, metrics));
}

const workflow = [
  thing(
    "remediation.kubernaut.io/v1alpha1",
    "RemediationRequest",
    { name: "slow", namespace: shop, annotations: asAdmin },
    { spec: { signalName: "slow" } },
  ),
  thing(
    "workflowexecution.kubernaut.io/v1alpha1",
    "WorkflowExecution",
    { name: "slow", namespace: shop, annotations: asAdmin },
    {
      spec: {
        remediationRequestRef: { name: "slow" },
        workflowDefinition: {
          name: "slow",
          version: "1",
          steps: [
            {
              stepNumber: 1,
              name: "more",
              action: "scale_deployment",
              parameters: { scaleDeployment: { deployment: "web", namespace: shop, replicas: 6 } },
            },
          ],
        },
      },
    },
  ),
];

const counted: readonly (readonly [series: string, value: number])[] = [
  // up, slow-step-1, kept · denied, unsure
  ['kubernetesexecution_action_execution_total{action="scale_deployment",status="success"}', 3],
  ['kubernetesexecution_action_execution_total{action="scale_deployment",status="failure"}', 2],
  ['kubernetesexecution_action_execution_total{action="rollout_restart",status="failure"}', 2],
  ['kubernetesexecution_action_execution_duration_seconds_count{action="scale_deployment"}', 5],
  ['kubernetesexecution_per_action_success_rate{action="scale_deployment"}', 0.6],
  ['kubernetesexecution_per_action_success_rate{action="rollout_restart"}', 0],
  // up and its dry run, broken, slow-step-1, kept · refused
  ['kubernetesexecution_job_creation_total{status="success"}', 5],
  ['kubernetesexecution_job_creation_total{status="failure"}', 1],
  ["kubernetesexecution_job_creation_duration_seconds_count", 6],
  ['kubernetesexecution_job_execution_duration_seconds_count{action="scale_deployment"}', 3],
  ['kubernetesexecution_job_execution_duration_seconds_count{action="rollout_restart"}', 1],
  ['kubernetesexecution_kubectl_command_execution_total{command="scale",status="success"}', 3],
  ['kubernetesexecution_kubectl_command_execution_total{command="rollout restart",status="failure"}', 1],
  ["kubernetesexecution_job_active_total", 0],
  ['kubernetesexecution_dryrun_validation_total{action="scale_deployment",status="success"}', 1],
  ['kubernetesexecution_dryrun_validation_duration_seconds_count{action="scale_deployment"}', 1],
  ['kubernetesexecution_serviceaccount_creation_duration_seconds_count{action="scale_deployment"}', 1],
  ['kubernetesexecution_rbac_creation_duration_seconds_count{action="scale_deployment"}', 2],
  ['kubernetes_executor_policy_evaluation_total{result="denied"}', 1],
  ['kubernetes_executor_policy_evaluation_total{result="error"}', 1],
  ['kubernetes_executor_policy_evaluation_duration_seconds_count{result="error"}', 1],
  ['kubernetes_executor_policy_denials_total{action="scale_deployment",policy="kubernetesexecution.safety.limits"}', 1],
  ["kubernetes_executor_policy_reloads_total", 3],
  ["kubernetes_executor_policy_reload_failures_total", 1],
  ['kubernaut_kubernetesexecutor_audit_storage_failures_total{error_type="Unavailable"}', 1],
  ['kubernaut_kubernetesexecutor_audit_storage_attempts_total{status="failure"}', 1],
  ["kubernaut_kubernetesexecutor_pending_audit_records", 0],
  ['condition_evaluations_total{kind="postcondition",result="failed"}', 1],
  ['workflowexecution_reconciler_total{outcome="completed"}', 1],
  ['workflowexecution_reconciler_duration_seconds_count{outcome="completed"}', 1],
];

const logLines: readonly (readonly [message: string, level: string, fields: Readonly<Record<string, unknown>>])[] = [
  [
    "an execution moves on",
    "info",
    { object: "shop/up", kind: "KubernetesExecution", action: "scale_deployment", from: "new", phase: "validating" },
  ],
  ["an execution moves on", "info", { object: "shop/up", phase: "validated", requestedBy: "admin" }],
  ["an execution moves on", "info", { object: "shop/up", from: "validated", phase: "executing" }],
  ["an execution moves on", "info", { object: "shop/up", from: "executing", phase: "rollback_ready" }],
  ["a postcondition that is not required does not hold", "warn", { object: "shop/up", condition: "quick" }],
  [
    "an execution has failed",
    "warn",
    { object: "shop/denied", from: "new", phase: "failed", reason: "validation_error" },
  ],
  ["an execution has failed", "warn", { object: "shop/broken", from: "executing", reason: "execution_failed" }],
  ["a remediation moves on", "info", { object: "shop/slow", kind: "RemediationRequest", phase: "completed", steps: 1 }],
];

const spansOfUp = [
  "create jobs",
  "create secrets",
  "create subjectaccessreviews",
  "patch jobs",
  "patch kubernetesexecutions",
];
const causesOfUp = ["watch KubernetesExecution Added", "watch Job Updated"];

const isJobOf = (name: string, { method, target, body }: { method: string; target: string; body?: unknown }): boolean =>
  method === "POST" && /\/jobs(\?|$)/.test(target) && String(body).includes(`"${name}"`);

/** Series by their text, labels sorted. */
function valuesOf(metrics: MetricsRegistry): ReadonlyMap<string, number> {
  const rows = metrics
    .expose()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    rows.map((line) => {
      const end = line.lastIndexOf(" ");
      return [sortLabels(line.slice(0, end)), Number(line.slice(end + 1))];
    }),
  );
}

const sortLabels = (series: string): string =>
  series.replace(/\{(.*)\}/, (_all, labels: string) => `{${(labels.match(/\w+="[^"]*"/g) ?? []).sort().join()}}`);

/** What the exposition says about one metric: its type, the labels that its series have, and its first and last bucket. */
function shapeOf(name: string, text: string): readonly unknown[] {
  const type = new RegExp(`^# TYPE ${name} (\\w+)$`, "m").exec(text)?.[1];
  const series = text.split("\n").filter((line) => new RegExp(`^${name}(_bucket|_sum|_count)?[{ ]`).test(line));
  const labels = new Set(series.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map((match) => match[1] ?? "")));
  const bounds = series.flatMap((line) => /le="([\d.]+)"/.exec(line)?.[1] ?? []).map(Number);
  labels.delete("le");
  const shape = [name, series.length > 0 ? type : "never written", [...labels].sort().join()];
  return bounds.length > 0 ? [...shape, [Math.min(...bounds), Math.max(...bounds)]] : shape;
}

const wantedShape = (row: (typeof upstream)[number]): readonly unknown[] => [...row];
