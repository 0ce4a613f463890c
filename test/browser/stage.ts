import { join } from "node:path";
import type { TestContext } from "node:test";
import { builtinKinds } from "../../src/api/builtin/kinds.ts";
import { findKind } from "../../src/api/kinds.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { readManifests } from "../../src/cli/manifest-files.ts";
import { isAlreadyExists } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import { joinDashboard } from "../../src/control-plane/dashboard.ts";
import { capabilityResolver } from "../../src/controllers/capability-resolver/controller.ts";
import { systemEnv } from "../../src/env/system.ts";
import { textReply } from "../../src/http/reply.ts";
import { listen } from "../../src/http/server.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { type ActionCluster, startActionCluster } from "../end-to-end/actions-cluster.ts";
import { deployment, namespace, scale, shop } from "../end-to-end/actions-examples.ts";
import { buildDashboard } from "./dashboard-assets.ts";
import { classRuntimes, fewServices, minecraftObjects } from "./objects.ts";

/** A dashboard with something to show: the embedded API, the resolver and the action executor are the real ones. */
export interface Stage {
  readonly url: string;
  readonly cluster: ActionCluster;
  /** Signs the holder of a token in, once. */
  linkFor(token: string): string;
  /** Creates an object with its status, or brings both up to date. */
  put(...objects: readonly KubeObject[]): Promise<void>;
  /** Asks for a scaling of the shop's web Deployment, as somebody. */
  askFor(name: string, replicas: number, who?: string): Promise<void>;
}

/** Alice asks, Bob may approve, Carol may only look. */
const people = ["alice", "bob", "carol"];

export async function startStage(context: Pick<TestContext, "after">): Promise<Stage> {
  // The system's timers do not keep a process alive, and a stage without its listener has nothing else that would.
  const keepAlive = setInterval(() => undefined, 1_000);
  context.after(() => clearInterval(keepAlive));
  const cluster = await startActionCluster(context, people, true);
  const put = async (...objects: readonly KubeObject[]): Promise<void> => {
    for (const object of objects) await putOne(cluster.admin, object);
  };
  await cluster.apply(...["oaas-demo", "minecraft", "capstan-system"].map((name) => namespace(name)), ...roles);
  await cluster.apply(namespace(shop, "production"), deployment("web", 3));
  await cluster.apply(
    ...readManifests([join(import.meta.dirname, "../../demo/10-game-world.yaml")]).map(({ object }) => object),
  );
  await put(...classRuntimes(), ...minecraftObjects(), ...fewServices());
  await cluster.start({ controllers: ({ metrics }) => [capabilityResolver(metrics)] });

  const { handle, sessions } = joinDashboard({
    env: systemEnv,
    assets: await buildDashboard(),
    api: cluster.raw,
    database: cluster.database,
  });
  const listener = await listen({
    env: systemEnv,
    port: 0,
    handler: async (request) => (await handle(request)) ?? textReply(404, "not found\n"),
  });
  context.after(() => listener.close());
  return {
    url: listener.url,
    cluster,
    linkFor: (token) => `${listener.url}/?token=${sessions.issueSignInToken(token)}`,
    put,
    async askFor(name, replicas, who = "alice") {
      await cluster.as(who).create(KubernetesExecution, scale(name, replicas) as never);
    },
  };
}

async function putOne(client: Client, object: KubeObject): Promise<void> {
  const [group = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : [""];
  const kind =
    findKind(group, object.kind) ?? builtinKinds.find((known) => known.group === group && known.kind === object.kind);
  if (!kind) throw new Error(`no kind ${object.kind}`);
  const { status, ...rest } = object as KubeObject & { status?: unknown };
  // Making an object costs a fraction of applying it, which counts where there are ten thousand.
  const applied = await client.create(kind, rest as never).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return client.apply(kind, rest as KubeObject, { fieldManager: "test", force: true });
  });
  const key = { namespace: applied.metadata.namespace ?? "", name: applied.metadata.name };
  if (status) await client.patch(kind, key, { type: "merge", value: { status } }, { subresource: "status" });
}

const rbac = "rbac.authorization.k8s.io";
const executionGroup = "kubernetesexecution.kubernaut.io";

const role = (name: string, rules: readonly object[], users: readonly string[]): readonly KubeObject[] =>
  [
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      subjects: users.map((user) => ({ kind: "User", name: user, apiGroup: rbac })),
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
    },
  ] as unknown as readonly KubeObject[];

const status = { apiGroups: [executionGroup], resources: ["kubernetesexecutions/status"], verbs: ["patch", "update"] };

const roles: readonly KubeObject[] = [
  ...role("look", [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }], people),
  ...role(
    "ask",
    [{ apiGroups: [executionGroup], resources: ["kubernetesexecutions"], verbs: ["create"] }, status],
    ["alice"],
  ),
  ...role(
    "decide",
    [{ apiGroups: [executionGroup], resources: ["kubernetesexecutions"], verbs: ["approve"] }, status],
    ["alice", "bob"],
  ),
];
