// What goes on while the demo soaks: things come, change, fail and go, and somebody looks at the dashboard.
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { ModuleManifest } from "../../src/api/module-manifest.ts";
import { WorldInstance } from "../../src/api/world-instance.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import type { Client, NewObject } from "../../src/client/client.ts";
import type { DiscoveryService } from "../../src/registry/client/discovery-service.ts";

export interface Stage {
  readonly client: Client;
  readonly registry: DiscoveryService;
  /** Opens the dashboard's feed and reads it until the signal ends it. */
  readonly look: (signal: AbortSignal) => Promise<void>;
}

/** Something that is done again and again; `turn` counts from 0. */
export interface Activity {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (stage: Stage, turn: number, signal: AbortSignal) => Promise<void>;
}

export const prepare = async ({ client }: Stage): Promise<void> => {
  await client.create(Namespace, { metadata: { name: soaked } });
  const labels = { app: "target" };
  const containers = [{ name: "target", image: "registry.example/target:1" }];
  await client.create(Deployment, {
    metadata: { name: "target", namespace: soaked },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  } as never);
};

export const soaked = "soak";
export const anvil = "anvil-demo";

export const activities: readonly Activity[] = [
  {
    name: "a world moves to another region",
    everyMs: 3_000,
    async run({ client }, turn) {
      const key = { namespace: anvil, name: "anvil-sample-world" };
      await client.patch(WorldInstance, key, { type: "merge", value: { spec: { region: `region-${turn % 5}` } } });
    },
  },
  {
    name: "a module's wish is met, and is not",
    everyMs: 7_000,
    async run({ client }, turn) {
      const seen = await client.get(ModuleManifest, { namespace: anvil, name: "weather" });
      const requires = (seen.spec.requires ?? []).map((each) => ({
        ...each,
        versionConstraint: turn % 2 === 0 ? "^1.0.0" : ">=2.0.0",
      }));
      await client.patch(
        ModuleManifest,
        { namespace: anvil, name: "weather" },
        { type: "merge", value: { spec: { requires } } },
      );
    },
  },
  {
    name: "a world comes and goes",
    everyMs: 11_000,
    async run({ client }, turn) {
      const key = { namespace: anvil, name: "brief-world" };
      if (turn % 2 === 1) await client.delete(WorldInstance, key);
      else await client.create(WorldInstance, briefWorld(key.name));
    },
  },
  {
    name: "a service registers, is heard of and leaves",
    everyMs: 2_000,
    async run({ registry }, turn) {
      const target = { serviceName: `soaking-${turn % 20}`, serviceType: "tool", host: "127.0.0.1", port: 9 };
      const registered = await registry.register(target);
      if (!registered.ok) throw new Error(registered.message);
      await registry.ping(registered.data.id);
      await registry.deregister(registered.data);
    },
  },
  {
    name: "an action is refused: its target is not there",
    everyMs: 13_000,
    run: ({ client }, turn) => act(client, turn, "refused", "not-there"),
  },
  {
    name: "an action runs and does not help",
    everyMs: 17_000,
    run: ({ client }, turn) => act(client, turn, "useless", "target"),
  },
  {
    name: "a class of functions changes",
    everyMs: 19_000,
    async run({ client }, turn) {
      const key = { namespace: "oaas-demo", name: "greeter" };
      await client.patch(ClassRuntime, key, {
        type: "merge",
        value: { metadata: { annotations: { "soak/turn": String(turn) } } },
      });
      const pods = { namespace: soaked, name: "target" };
      await client.patch(Deployment, pods, {
        type: "merge",
        value: { spec: { template: { metadata: { annotations: { turn: String(turn) } } } } },
      });
    },
  },
  { name: "somebody looks at the dashboard", everyMs: 1_000, run: ({ look }, _, signal) => look(signal) },
];

const keptExecutions = 3;

/** One more action of a kind; the oldest ones are cleared away, as an administrator would. */
async function act(client: Client, turn: number, name: string, deployment: string): Promise<void> {
  await client.create(KubernetesExecution, uselessAction(`${name}-${turn}`, deployment, turn));
  if (turn < keptExecutions) return;
  const key = { namespace: soaked, name: `${name}-${turn - keptExecutions}` };
  await client.delete(KubernetesExecution, key).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

export const briefWorld = (name: string) => ({
  metadata: { namespace: anvil, name },
  spec: {
    gameRef: { name: "anvil-sample" },
    worldId: name,
    region: "here",
    shardCount: 1,
    desiredState: "Running" as const,
  },
});

export const uselessAction = (name: string, deployment: string, turn: number): NewObject<KubernetesExecution> =>
  ({
    metadata: { name, namespace: soaked },
    spec: {
      action: "scale_deployment",
      parameters: { scaleDeployment: { deployment, namespace: soaked, replicas: 1 + (turn % 3) } },
      maxRetries: 0,
      postConditions: [
        {
          type: "never_true",
          description: "It never helps.",
          rego: "package postcondition.scale_deployment\nimport rego.v1\nallow if false\n",
          timeout: "1s",
        },
      ],
    },
  }) as never;
