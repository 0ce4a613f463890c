import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { CustomResourceDefinition } from "../../api/builtin/custom-resource-definition.ts";
import { ClusterRole, ClusterRoleBinding } from "../../api/builtin/rbac.ts";
import { customResourceDefinitions } from "../../api/crds.ts";
import { createApiServer } from "../../apiserver/server.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/create-client.ts";
import { createTransport } from "../../client/transport.ts";
import { installKinds } from "../../control-plane/install.ts";
import { systemEnv } from "../../env/system.ts";
import { textReply } from "../../http/reply.ts";
import { listen } from "../../http/server.ts";
import { holdDataDir } from "../data-dir.ts";
import { examineCluster, judgePermissions, judgeVersion } from "../doctor/cluster.ts";
import { examineDataDirectory, notedOnly } from "../doctor/data-directory.ts";
import { diagnose, type Finding, renderDiagnosis } from "../doctor/finding.ts";
import { examineMachine, judgeKubectl, judgeNode } from "../doctor/machine.ts";

const stateOf = (findings: readonly Finding[], check: Finding["check"]): string | undefined =>
  findings.find((finding) => finding.check === check)?.state;

async function apiServer(context: TestContext): Promise<(token: string) => Client> {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [
      { token: "admin", user: { name: "admin", groups: ["system:masters"] } },
      { token: "guest", user: { name: "guest", groups: ["system:authenticated"] } },
    ],
  });
  context.after(() => server.close());
  return (token) =>
    createClient({
      env: systemEnv,
      transport: (request) =>
        server.handle({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }),
    });
}

const { signal } = new AbortController();

test("a cluster without our kinds, then with them, then with one of another version", {
  timeout: 60_000,
}, async (context) => {
  const client = (await apiServer(context))("admin");
  const before = await examineCluster({ client, signal });
  assert.deepEqual(
    before.map(({ check, state }) => `${check} ${state}`),
    ["api ok", "kinds wrong", "permissions ok"],
  );
  assert.match(before[1]?.message ?? "", new RegExp(`^${customResourceDefinitions.length} of .* missing: `));
  assert.match(before[1]?.next ?? "", /capstan install --crds-only/);

  await installKinds(client, systemEnv);
  assert.deepEqual(
    (await examineCluster({ client, signal })).map(({ state }) => state),
    ["ok", "ok", "ok"],
  );

  const patch = [{ op: "remove", path: "/spec/versions/0/schema/openAPIV3Schema/properties/status" }] as const;
  const name = "worldinstances.game.platform";
  await client.patch(CustomResourceDefinition, { name }, { type: "json", operations: patch });
  const after = await examineCluster({ client, signal });
  assert.equal(stateOf(after, "kinds"), "wrong");
  assert.match(after[1]?.message ?? "", /of another version: worldinstances\.game\.platform$/);
});

test("a user who may do little is told what is missing", { timeout: 60_000 }, async (context) => {
  const clientOf = await apiServer(context);
  const guest = clientOf("guest");
  const nothing = await examineCluster({ client: guest, signal });
  assert.deepEqual(
    nothing.map(({ check, state }) => `${check} ${state}`),
    ["api ok", "kinds note", "permissions wrong"],
  );
  const admin = clientOf("admin");
  const metadata = { name: "readers" };
  await admin.create(ClusterRole, {
    metadata,
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }],
  });
  await admin.create(ClusterRoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "readers" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "guest" }],
  });
  const [, , permissions] = await examineCluster({ client: guest, signal });
  assert.equal(permissions?.state, "wrong");
  assert.match(permissions?.message ?? "", /create|patch/);
  assert.doesNotMatch(permissions?.message ?? "", /: (get|list|watch) /);
});

test("an API that is not there is wrong, and nothing more is asked", { timeout: 60_000 }, async (context) => {
  const access = { server: "http://127.0.0.1:1", namespace: "", tls: {}, credential: { kind: "None" } } as const;
  const transport = createTransport(access, { env: systemEnv });
  context.after(() => transport.close());
  const late = new AbortController();
  const keepAlive = setTimeout(() => late.abort(), 5_000);
  context.after(() => clearTimeout(keepAlive));
  const client = createClient({ env: systemEnv, transport: transport.handle });
  const findings = await examineCluster({ client, signal: late.signal });
  assert.deepEqual(
    findings.map(({ state }) => state),
    ["wrong", "skipped", "skipped"],
  );
  assert.ok(findings[0]?.next);
});

test("a data directory that is free, held, left behind, or a file", { timeout: 60_000 }, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-doctor-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "data");
  const examine = (path = dataDir) => examineDataDirectory({ dataDir: path, apiPort: 0, httpPort: 0 });

  const free = await examine();
  assert.deepEqual(
    free.findings.map(({ state }) => state),
    ["ok", "ok", "ok", "ok"],
  );
  assert.equal(free.isHeld, false);

  const held = holdDataDir(dataDir);
  const taken = await examine();
  assert.equal(taken.isHeld, true);
  assert.match(taken.findings[1]?.message ?? "", new RegExp(`pid ${process.pid} runs on it and is starting`));
  held.release();
  assert.equal((await examine()).isHeld, false);

  writeFileSync(join(dataDir, "holder.json"), JSON.stringify({ pid: 4_000_000 }));
  assert.equal(stateOf((await examine()).findings, "holder"), "note");

  writeFileSync(join(folder, "file"), "");
  assert.equal(stateOf((await examine(join(folder, "file", "data"))).findings, "data-dir"), "wrong");
});

test("a port in use is wrong, unless the running instance has it", { timeout: 60_000 }, async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-doctor-"));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const listener = await listen({ env: systemEnv, port: 0, handler: async () => textReply(200, "") });
  context.after(() => listener.close());
  const flags = { dataDir, apiPort: 0, httpPort: listener.port };
  const { findings } = await examineDataDirectory(flags);
  assert.equal(stateOf(findings, "http-port"), "wrong");
  assert.match(findings[3]?.next ?? "", /--http-port/);
  assert.equal(stateOf(findings.map(notedOnly), "http-port"), "note", "for whoever asks about a cluster by name");

  const held = holdDataDir(dataDir);
  context.after(() => held.release());
  writeFileSync(join(dataDir, "ready.json"), JSON.stringify({ api: "https://127.0.0.1:1", http: listener.url }));
  assert.equal(stateOf((await examineDataDirectory(flags)).findings, "http-port"), "ok");
});

test("this checkout's machine has all that is needed", { timeout: 60_000 }, async () => {
  const findings = await examineMachine();
  assert.deepEqual(
    findings.map(({ check }) => check),
    ["node", "pinned-node", "bundle", "kubectl"],
  );
  assert.deepEqual(
    findings.filter(({ state }) => state === "wrong"),
    [],
  );
});

const judged: readonly { readonly name: string; readonly finding: Finding; readonly state: Finding["state"] }[] = [
  { name: "Node 24", finding: judgeNode("24.21.0"), state: "ok" },
  { name: "Node 22", finding: judgeNode("22.1.0"), state: "wrong" },
  { name: "no kubectl", finding: judgeKubectl(undefined), state: "note" },
  { name: "a kubectl that prints nonsense", finding: judgeKubectl("{}"), state: "note" },
  { name: "a kubectl", finding: judgeKubectl('{"clientVersion":{"gitVersion":"v1.33.0"}}'), state: "ok" },
  { name: "Kubernetes 1.36", finding: judgeVersion({ major: "1", minor: "36", gitVersion: "v1.36.3" }), state: "ok" },
  {
    name: "Kubernetes 1.29+",
    finding: judgeVersion({ major: "1", minor: "29+", gitVersion: "v1.29.1" }),
    state: "note",
  },
  { name: "something that is no Kubernetes", finding: judgeVersion({}), state: "wrong" },
  { name: "every permission", finding: judgePermissions([{ what: "get pods", allowed: true }]), state: "ok" },
  { name: "a permission less", finding: judgePermissions([{ what: "get pods", allowed: false }]), state: "wrong" },
];

for (const { name, finding, state } of judged) {
  test(`${name} is ${state}${state === "ok" ? "" : ", with a next step"}`, () => {
    assert.equal(finding.state, state);
    if (state !== "ok") assert.ok(finding.next);
  });
}

test("the next step of what is wrong comes before that of a note", () => {
  const diagnosis = diagnose([judgeKubectl(undefined), judgeNode("20.0.0")]);
  assert.equal(diagnosis.ok, false);
  assert.match(diagnosis.next ?? "", /install Node/);
  assert.match(renderDiagnosis(diagnosis), /^1 thing is wrong\. What to do next:\n {2}kubectl: .*\n {2}node: /m);
  assert.equal(
    renderDiagnosis(diagnose([judgeNode("24.0.0")])),
    "     CHECK   FOUND\nok   node    24.0.0\n\nNothing is wrong.\n",
  );
});
