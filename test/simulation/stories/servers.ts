import { ConfigMap } from "../../../src/api/builtin/configuration.ts";
import { Service } from "../../../src/api/builtin/service.ts";
import { StatefulSet } from "../../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../../src/api/papermc-server.ts";
import { Plugin } from "../../../src/api/plugin.ts";
import { isNotFound } from "../../../src/client/api-error.ts";
import { minecraftControllers } from "../../../src/controllers/minecraft/controllers.ts";
import { windowAt } from "../../../src/controllers/minecraft/update-window.ts";
import { versionSolver } from "../../../src/controllers/version-solver/controller.ts";
import { systemEnv } from "../../../src/env/system.ts";
import type { KubeObject } from "../../../src/kube/object.ts";
import { createSat } from "../../../src/solver/sat.ts";
import type { Write } from "../journal.ts";
import { isPlane } from "../properties.ts";
import { Repository } from "../repository.ts";
import type { SimulatedApi } from "../simulated-api.ts";
import type { Look, Step, Story } from "../story.ts";
import { change, here, namespace, put, remove } from "../user.ts";

// The solver's program is loaded once in a process, in real time; no world may begin before that.
(await createSat({ env: systemEnv })).dispose();

/** Minecraft servers and plugins whose versions are found in a repository that fails, and that are updated in windows. */
export const servers: Story = {
  name: "servers",
  groups: [PaperMCServer.group],
  controllers: ({ api, clock, env, manager: { metrics } }) => [
    ...versionSolver({ env, metrics }),
    ...minecraftControllers({ env, metrics, fetch: repositoryOf(api).of(clock), image: "capstan:simulation" }),
  ],
  setUp: async (_client, api) => comeAlive(api),
  outside: repositoryOf,
  compares: [PaperMCServer, Plugin, StatefulSet, Service, ConfigMap],
  children: [StatefulSet, Service],
  withstands: ["delete", "addFinalizer", "dropFinalizer"],
  // What a repository did not tell is asked for again after a quarter of an hour.
  appliesAnew: true,
  // What is installed stays where nothing better fits, and nothing goes back: the end depends on the way.
  isHistory: true,
  quietMs: 16 * 60_000,
  script,
  watch: soundAndInTime,
  finally: async (client) => {
    const all = [...(await client.list(PaperMCServer)).items, ...(await client.list(Plugin)).items];
    const haunted = all.filter(({ status }) => pastTrouble.test(JSON.stringify(status)));
    return haunted.map(({ kind, metadata, status }) => {
      const said = pastTrouble.exec(JSON.stringify(status))?.[0];
      return `P1 ${kind} ${metadata.name} still speaks of what is over: ${said}`;
    });
  },
};

/** How statuses tell of the faults of a plan; at rest all of them are over. */
const pastTrouble =
  /injected|orphaned|unavailable"|answered (429|500)|another shape|broke off|no answer|simulation says|exceeded quota/;

const repositories = new WeakMap<SimulatedApi, Repository>();

function repositoryOf(api: SimulatedApi): Repository {
  const known = repositories.get(api) ?? new Repository(api);
  repositories.set(api, known);
  return known;
}

/** Every StatefulSet is rolled out a second after it was written, as if by its controller and a node. */
function comeAlive(api: SimulatedApi): void {
  const client = api.clientOf("node");
  api.journal.onWrite(({ resource, subresource, namespace, name, method, answer }) => {
    if (resource !== StatefulSet.plural || subresource !== "" || method === "DELETE") return;
    const { generation: observedGeneration = 1 } = answer.metadata;
    const revision = `r${observedGeneration}`;
    const counts = { replicas: 1, readyReplicas: 1, updatedReplicas: 1, currentReplicas: 1, availableReplicas: 1 };
    const status = { ...counts, observedGeneration, currentRevision: revision, updateRevision: revision };
    const roll = (): Promise<unknown> =>
      client
        .patch(StatefulSet, { namespace, name }, { type: "merge", value: { status } }, { subresource: "status" })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
    api.env.setTimer(1_000, () => void roll());
  });
}

const names = ["survival", "creative"] as const;
const plugins = { homes: "capstan-demo-homes", market: "capstan-demo-market" } as const;

/** What the repository says: a plugin's versions and the Minecraft versions that each runs on. */
const supports: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  homes: { "2.21.0": ["1.20.4", "1.20.6", "1.21.1", "1.21.4"], "2.20.1": ["1.20.4", "1.20.6"] },
  market: { "1.5.0": ["1.20.4", "1.20.6"], "1.4.2": ["1.20.4"] },
};

const newServer = (name: string): PaperMCServer =>
  ({
    apiVersion: "mc.k8s.lex.la/v1beta1",
    kind: "PaperMCServer",
    metadata: { name, labels: { homes: "yes", market: "no" } },
    spec: {
      updateStrategy: "auto",
      updateSchedule: {
        checkCron: "0 3 * * *",
        timeZone: "UTC",
        maintenanceWindow: { cron: "*/4 * * * *", enabled: true, duration: "1m" },
      },
      gracefulShutdown: { timeout: "2s" },
      rcon: { enabled: false, passwordSecret: { name: "", key: "" } },
      service: { type: "ClusterIP" },
      podTemplate: { spec: { containers: [{ name: "minecraft" }] } },
    },
  }) as unknown as PaperMCServer;

const newPlugin = (name: keyof typeof plugins): Plugin =>
  ({
    apiVersion: "mc.k8s.lex.la/v1beta1",
    kind: "Plugin",
    metadata: { name },
    spec: {
      source: { type: "hangar", project: plugins[name] },
      updateStrategy: "latest",
      instanceSelector: { matchLabels: { [name]: "yes" } },
    },
  }) as unknown as Plugin;

function script(random: () => number): readonly Step[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const steps: Step[] = [
    ...names.map((name, index) => ({
      atMs: 2_000 + index * 500,
      what: `create server ${name}`,
      run: ((client) => client.create(PaperMCServer, here(newServer(name)))) as Step["run"],
    })),
    ...(["homes", "market"] as const).map((name, index) => ({
      atMs: 3_000 + index * 500,
      what: `create plugin ${name}`,
      run: ((client) => client.create(Plugin, here(newPlugin(name)))) as Step["run"],
    })),
  ];
  const many = 3 + Math.floor(random() * 5);
  for (let index = 0; index < many; index++)
    steps.push({ atMs: 8_000 + Math.floor(random() * 140_000), ...pick(changes)(pick) });
  return steps.sort((one, other) => one.atMs - other.atMs);
}

type Change = (pick: <T>(from: readonly T[]) => T) => Omit<Step, "atMs">;

const changes: readonly Change[] = [
  (pick) => {
    const [name, market] = [pick(names), pick(["yes", "no"])];
    return {
      what: `${name} has the market: ${market}`,
      run: (client) => change(client, PaperMCServer, name, { metadata: { labels: { market } } }),
    };
  },
  (pick) => {
    const [name, version] = [pick(names), pick(["1.20.4", "1.20.6", "1.21.1"])];
    return {
      what: `${name} is pinned to ${version}`,
      run: (client) => change(client, PaperMCServer, name, { spec: { updateStrategy: "pin", version } }),
    };
  },
  (pick) => {
    const name = pick(names);
    return {
      what: `${name} takes what fits`,
      run: (client) => change(client, PaperMCServer, name, { spec: { updateStrategy: "auto", version: null } }),
    };
  },
  (pick) => {
    const version = pick(["2.21.0", "2.20.1"]);
    return {
      what: `homes is pinned to ${version}`,
      run: (client) => change(client, Plugin, "homes", { spec: { updateStrategy: "pin", version } }),
    };
  },
  () => ({ what: "the market goes", run: (client) => remove(client, Plugin, "market") }),
  () => ({ what: "the market is there", run: (client) => put(client, Plugin, newPlugin("market")) }),
  (pick) => {
    const name = pick(names);
    return { what: `${name} is deleted`, run: (client) => remove(client, PaperMCServer, name) };
  },
  (pick) => {
    const name = pick(names);
    return { what: `${name} is there`, run: (client) => put(client, PaperMCServer, newServer(name)) };
  },
];

/** P17: what is chosen fits together. P16: a server that runs is restarted in its window only. */
function soundAndInTime(look: Look, api: SimulatedApi): (write: Write) => string | undefined {
  return (write) => {
    if (!isPlane(write.who) || write.method === "DELETE") return undefined;
    if (write.resource === PaperMCServer.plural && write.subresource === "status")
      return misfit(write.answer as PaperMCServer);
    if (write.resource !== StatefulSet.plural || write.subresource !== "") return undefined;
    const before = look.get(write.resource, write.namespace, write.name);
    const server = look.get(PaperMCServer.plural, write.namespace, write.name) as PaperMCServer | undefined;
    if (before === undefined || server === undefined || imageOf(before) === imageOf(write.answer)) return undefined;
    const { updateProgress } = server.status ?? {};
    const startedAt = new Date(updateProgress?.startedAt ?? api.env.now());
    if (updateProgress && windowAt(server, startedAt).kind === "Open") return undefined;
    return `P16 ${write.name} gets ${imageOf(write.answer)} outside of its window`;
  };
}

const imageOf = (set: KubeObject): string =>
  (set as StatefulSet).spec.template.spec.containers.map(({ image }) => image).join();

function misfit({ metadata, spec, status }: PaperMCServer): string | undefined {
  // A person who pins a version is told that it does not fit, and gets it.
  const { desiredVersion } = status ?? {};
  if (desiredVersion === undefined || spec.updateStrategy === "pin") return undefined;
  for (const { pluginRef, resolvedVersion, compatible } of status?.plugins ?? []) {
    if (!compatible || !resolvedVersion || pluginRef.namespace !== namespace) continue;
    if (supports[pluginRef.name]?.[resolvedVersion]?.includes(desiredVersion) === false)
      return `P17 ${metadata.name} is to run ${desiredVersion} with ${pluginRef.name} ${resolvedVersion}`;
  }
  return undefined;
}
