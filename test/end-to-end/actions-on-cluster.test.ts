/** `capstan run --controllers actions`: as its own ServiceAccount, in a cluster where `capstan install` was applied. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { MutatingWebhookConfiguration } from "../../src/api/builtin/admission.ts";
import { Secret } from "../../src/api/builtin/configuration.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { kubeconfigText } from "../../src/apiserver/kubeconfig.ts";
import { type StartedApiServer, startApiServer } from "../../src/apiserver/start.ts";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { createClient } from "../../src/client/create-client.ts";
import { defaultActionSettings } from "../../src/control-plane/actions.ts";
import { applyObjects, installKinds } from "../../src/control-plane/install.ts";
import { installObjects } from "../../src/control-plane/manifests.ts";
import { type RunningControllers, type RunOptions, runControllers } from "../../src/control-plane/on-cluster.ts";
import { newWebhookIdentity } from "../../src/control-plane/webhook-identity.ts";
import { jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { defaultInstallation } from "../../src/controllers/class-runtime/installation.ts";
import { systemEnv } from "../../src/env/system.ts";
import { createLogger } from "../../src/runtime/log.ts";
import { deployment, namespace, scale, shop } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const env = systemEnv;
const image = "capstan:test";
const own = "capstan-system";
const nowhere = "http://127.0.0.1:9";

interface Cluster {
  readonly server: StartedApiServer;
  readonly admin: Client;
  readonly folder: string;
  as(user: string): Client;
}

async function startCluster(context: TestContext): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-cluster-"));
  const server = await startApiServer({ env, dataDir: folder, port: 0 });
  context.after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const as = (user: string): Client =>
    createClient({
      env,
      transport: (request) => {
        const headers = { ...request.headers, authorization: `Bearer ${server.adminToken}` };
        return server.handle({ ...request, headers: user === "" ? headers : { ...headers, "impersonate-user": user } });
      },
    });
  return { server, admin: as(""), folder, as };
}

/** With what it said about where its webhook is. */
async function run(
  context: TestContext,
  { folder, server }: Cluster,
  token: string,
  more: Partial<RunOptions> = {},
): Promise<{ readonly running: RunningControllers; readonly said: readonly string[]; readonly webhookPort: number }> {
  const said: string[] = [];
  const kubeconfig = join(folder, "run.kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText({ url: server.url, caCertificate: server.caCertificate, token }));
  const running = await runControllers({
    env,
    version: "0.0.0-test",
    connect: () => clientFromKubeconfig({ env: more.env ?? env, paths: [kubeconfig] }),
    systems: ["actions"],
    areSystemsChosen: true,
    image,
    baseUrls: { hangar: nowhere, modrinth: nowhere, paper: nowhere, dockerHub: nowhere },
    classRuntimes: defaultInstallation,
    grpcPort: { port: 0, isChosen: true },
    registry: { namespace: own },
    actions: defaultActionSettings,
    webhook: { host: "127.0.0.1", port: 0, service: { namespace: own, name: "capstan-actions-webhook" } },
    database: () => join(folder, "capstan.db"),
    dashboard: { assets: new Map() },
    namespaces: [],
    host: "127.0.0.1",
    httpPort: 0,
    log: createLogger({ env, level: "info", format: "json", writeLine: (line) => void said.push(line) }),
    ...more,
  });
  context.after(() => running.stop());
  const port = /"url":"https:\/\/127\.0\.0\.1:(\d+)"/.exec(said.join("\n"))?.[1] ?? "";
  return { running, said, webhookPort: Number(port) };
}

test("actions run as their own account on a cluster, and every replica shows the same certificate", {
  timeout: 180_000,
}, async (context) => {
  const cluster = await startCluster(context);
  const { admin, server } = cluster;
  await installKinds(admin, env);

  await context.test(
    "where they are not installed it says so, or leaves them out when nobody asked for them",
    async () => {
      await assert.rejects(
        run(context, cluster, server.adminToken),
        /actions cannot run in this cluster yet.*capstan install/,
      );
      const { said } = await run(context, cluster, server.adminToken, { areSystemsChosen: false });
      assert.match(said.join("\n"), /actions are left out/);
    },
  );

  const installed = installObjects({ namespace: own, image, replicas: 2, single: false, registryNamespace: own });
  await applyObjects(
    admin,
    installed.filter(({ kind }) => kind !== "CustomResourceDefinition" && kind !== "Deployment"),
  );
  await applyObjects(admin, [namespace(shop, "production"), deployment("web", 2)]);
  const token = await admin.createToken({ namespace: own, name: "capstan-actions" });
  const first = await run(context, cluster, token);
  await context.test(
    "the API server knows the webhook by the authority in the Secret that the first replica made",
    async () => {
      const { data = {} } = await admin.get(Secret, { namespace: own, name: "capstan-actions" });
      assert.deepEqual(Object.keys(data).sort(), ["audit.key", "ca.crt", "tls.crt", "tls.key"]);
      const { webhooks = [] } = (await admin.get(MutatingWebhookConfiguration, {
        name: "capstan-actions",
      })) as { webhooks?: readonly { clientConfig: { caBundle?: string; service?: { name: string } } }[] };
      assert.equal(webhooks.length, 4);
      for (const { clientConfig } of webhooks) {
        assert.equal(clientConfig.caBundle, data["ca.crt"]);
        assert.equal(clientConfig.service?.name, "capstan-actions-webhook");
      }
      const caBundle = Buffer.from(data["ca.crt"] ?? "", "base64").toString();
      await shownName("capstan-actions-webhook.capstan-system.svc", first.webhookPort, caBundle);
      await assert.rejects(shownName("somebody.else.svc", first.webhookPort, caBundle), /altnames/i);
      await first.running.stop();
      const second = await run(context, cluster, token);
      await shownName("capstan-actions-webhook.capstan-system.svc", second.webhookPort, caBundle);
      await second.running.stop();
    },
  );

  await context.test(
    "a certificate in its last third is renewed as its own account, and the one before it stays trusted",
    async () => {
      const key = { namespace: own, name: "capstan-actions" };
      const host = "capstan-actions-webhook.capstan-system.svc";
      const old = newWebhookIdentity(new Date(env.now().getTime() - 300 * 86_400_000), [host, `${host}.cluster.local`]);
      const data = { "ca.crt": old.caCertificate, "tls.crt": old.certificate, "tls.key": old.key };
      const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
      await admin.patch(Secret, key, { type: "merge", value: { data: Object.fromEntries(encoded) } });
      const renewing = await run(context, cluster, token);
      const renewed = await admin.get(Secret, key);
      assert.notEqual(renewed.data?.["tls.crt"], Buffer.from(old.certificate).toString("base64"));
      const caBundle = Buffer.from(renewed.data?.["ca.crt"] ?? "", "base64").toString();
      assert.ok(caBundle.includes(old.caCertificate.trim()));
      await shownName(host, renewing.webhookPort, caBundle);
      await assert.rejects(shownName(host, renewing.webhookPort, old.caCertificate));
      await renewing.running.stop();
    },
  );

  // Its machine's clock is an hour slow, which must not show: others measure by what it writes.
  const slow = { ...env, now: () => new Date(env.now().getTime() - 3_600_000) };
  await context.test("the requester is stamped, and another's approval starts one Job", async () => {
    const relay = await startRelay(context);
    const place = { host: "127.0.0.1", port: 0, service: { namespace: own, name: "capstan-actions-webhook" } };
    const outside = await run(context, cluster, token, { env: slow, webhook: { ...place, url: relay.url } });
    relay.to(outside.webhookPort);
    await applyObjects(admin, [bobMayApprove]);
    const name = "more";
    await admin.create(KubernetesExecution, scale(name, 3) as never);
    const { metadata } = await eventually(
      () => admin.get(KubernetesExecution, { namespace: shop, name }),
      ({ status }) => assert.equal(status?.phase, "waiting_approval", status?.message),
    );
    assert.equal(metadata.annotations?.["capstan.dev/requested-by"], "capstan-admin");
    const said = { decision: "Approved", by: "whoever", at: "2026-01-01T00:00:00Z", specHash: "" };
    const yes = { type: "merge", value: { status: { approval: said } } } as const;
    const approve = (client: Client): Promise<unknown> =>
      client.patch(KubernetesExecution, { namespace: shop, name }, yes, { subresource: "status" });
    await assert.rejects(approve(admin), { reason: "Forbidden" });
    await approve(cluster.as("bob"));
    const started = await eventually(
      () => admin.get(KubernetesExecution, { namespace: shop, name }),
      ({ status }) => assert.equal(status?.phase, "executing", status?.message),
    );
    assert.equal(started.status?.approval?.by, "bob");
    const askedMs = Date.parse(metadata.creationTimestamp ?? "");
    for (const time of [started.status?.approval?.at, started.status?.phaseStartTime])
      assert.ok(Math.abs(Date.parse(time ?? "") - askedMs) < 120_000, `${time} is not the time of the API server`);
    const job = await admin.get(Job, { namespace: jobNamespace, name: started.status?.jobName ?? "" });
    assert.equal(job.spec.template.spec.containers[0]?.image, image);
  });
});

/** Rejects unless what listens there shows a certificate for that name. */
const shownName = (servername: string, port: number, ca: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connectTls({ host: "127.0.0.1", port, servername, ca }, () => {
      socket.destroy();
      resolve();
    });
    socket.on("error", reject);
  });

/** An address that is known before anybody listens behind it. */
async function startRelay(context: TestContext): Promise<{ readonly url: string; to(port: number): void }> {
  let target = 0;
  const server = createServer((socket) => {
    const onward = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    to(next) {
      target = next;
    },
  };
}

const bobMayApprove = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: "bob" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "capstan-approver" },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" }],
};
