/** S11: what an action writes into a Secret is seen by nobody who did not write it. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Secret } from "../../src/api/builtin/configuration.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { WorkflowExecution } from "../../src/api/workflow-execution.ts";
import { applyObjects } from "../../src/control-plane/install.ts";
import { jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { ObjectKey } from "../../src/kube/object.ts";
import { createLogger } from "../../src/runtime/log.ts";
import { openTerminal } from "../documents/terminal.ts";
import { execution, namespace, shop, thing } from "./actions-examples.ts";
import { eventually, startEmbedded } from "./embedded.ts";

test("S11: a canary secret is never found in status, events, logs, audit or capstan.db", {
  timeout: 300_000,
}, async (context) => {
  const lines: string[] = [];
  const log = createLogger({ env: systemEnv, level: "debug", writeLine: (line) => void lines.push(line) });
  const { client, dataDir, plane } = await startEmbedded(context, [], {
    command: [process.execPath, join(import.meta.dirname, "act-program.ts")],
    log,
  });
  const plain = `canary-${randomBytes(12).toString("hex")}`;
  const encoded = Buffer.from(plain).toString("base64");
  const update = (name: string, secret: string, data: object) =>
    execution(name, { action: "update_secret", parameters: { updateSecret: { secret, namespace: shop, data } } });
  const remediation = (name: string, spec: object) =>
    thing("remediation.kubernaut.io/v1alpha1", "RemediationRequest", { name, namespace: shop }, { spec });
  const step = (data: unknown) => ({
    stepNumber: 1,
    action: "update_secret",
    parameters: { updateSecret: { name: "login", namespace: shop, dataUpdates: data } },
  });
  await applyObjects(client, [
    namespace(shop),
    thing("v1", "Secret", { name: "login", namespace: shop }, { data: { password: "b2xk" } }),
    thing("v1", "Secret", { name: "fixed", namespace: shop }, { data: { password: "b2xk" }, immutable: true }),
  ]);
  await applyObjects(client, [
    update("works", "login", { password: encoded }),
    update("missing", "nobody", { password: encoded }),
    update("refused", "fixed", { password: encoded }),
    update("wrong-key", "login", { [`../${plain}`.slice(0, 5)]: encoded, password: encoded }),
    remediation("wrapped", { steps: [step({ token: encoded })] }),
    remediation("wrong", { steps: [step(plain)] }),
    remediation("planned", {}),
    thing(
      "workflowexecution.kubernaut.io/v1alpha1",
      "WorkflowExecution",
      { name: "plan", namespace: shop },
      {
        spec: {
          remediationRequestRef: { name: "planned" },
          workflowDefinition: { name: "w", version: "v1", steps: [step({ again: encoded })] },
        },
      },
    ),
  ]);
  const phaseOf = async (name: string) =>
    (await client.get(KubernetesExecution, { namespace: shop, name })).status?.phase;
  await eventually(
    async () => [
      await phaseOf("works"),
      await phaseOf("missing"),
      await phaseOf("refused"),
      await phaseOf("wrong-key"),
    ],
    (phases) => assert.deepEqual(phases, ["completed", "failed", "failed", "failed"]),
  );
  await eventually(
    async () => (await client.list(RemediationRequest, { namespace: shop })).items,
    (items) =>
      assert.deepEqual(items.map(({ metadata, status }) => `${metadata.name} ${status?.overallPhase}`).sort(), [
        "planned completed",
        "wrapped completed",
        "wrong failed",
      ]),
  );
  const { data } = await client.get(Secret, { namespace: shop, name: "login" });
  assert.deepEqual(data, { password: encoded, token: encoded, again: encoded });

  const statuses = async (kind: typeof KubernetesExecution | typeof RemediationRequest | typeof WorkflowExecution) =>
    JSON.stringify(
      (await client.list(kind as typeof KubernetesExecution, {})).items.map(({ metadata, status }) => [
        metadata.annotations,
        status,
      ]),
    );
  const everything = async (kind: typeof Event | typeof Job | typeof Pod, inNamespace?: string) =>
    JSON.stringify((await client.list(kind as typeof Job, inNamespace ? { namespace: inNamespace } : {})).items);
  const pods = (await client.list(Pod, { namespace: jobNamespace })).items;
  const logOf = async (pod: ObjectKey): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.log(pod)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const terminal = openTerminal(context, dataDir);
  const metrics = await fetch(`${plane.http}/metrics`).then((answer) => answer.text());
  const places: Readonly<Record<string, string>> = {
    "statuses of executions": await statuses(KubernetesExecution),
    "statuses of remediations": await statuses(RemediationRequest),
    "statuses of workflows": await statuses(WorkflowExecution),
    events: await everything(Event),
    Jobs: await everything(Job, jobNamespace),
    pods: await everything(Pod, jobNamespace),
    "logs of pods": (await Promise.all(pods.map(({ metadata }) => logOf(metadata)))).join(""),
    "the log": lines.join("\n"),
    "the audit trail": (await terminal.type("capstan audit export")).output,
    metrics,
    ...Object.fromEntries(
      readdirSync(dataDir)
        .filter((name) => name.startsWith("capstan.db"))
        .map((name) => [name, readFileSync(join(dataDir, name), "latin1")]),
    ),
  };
  for (const [place, text] of Object.entries(places)) {
    assert.ok(text.length > 0 || place === "logs of pods", `${place} was looked at`);
    for (const form of [plain, encoded, encodeURIComponent(encoded)])
      assert.ok(!text.includes(form), `the canary was found in ${place}`);
  }
  context.diagnostic(`S11: ${Object.keys(places).length} places, no canary`);
});
