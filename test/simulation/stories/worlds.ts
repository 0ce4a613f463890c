import { ConfigMap } from "../../../src/api/builtin/configuration.ts";
import { Service } from "../../../src/api/builtin/service.ts";
import { CapabilityBinding } from "../../../src/api/capability-binding.ts";
import { GameDefinition } from "../../../src/api/game-definition.ts";
import { ModuleManifest } from "../../../src/api/module-manifest.ts";
import { WorldInstance } from "../../../src/api/world-instance.ts";
import type { Client } from "../../../src/client/client.ts";
import { systems } from "../../../src/control-plane/controllers.ts";
import * as example from "../../../src/controllers/capability-resolver/example-world.ts";
import type { KindRef } from "../../../src/kube/kind.ts";
import type { KubeObject } from "../../../src/kube/object.ts";
import type { Write } from "../journal.ts";
import { withoutLabel } from "../old-version.ts";
import type { ProgramParts } from "../process.ts";
import { foreignAnnotation, foreignCondition, isPlane } from "../properties.ts";
import type { Look, Step, Story } from "../story.ts";
import { change, here, namespace, put, remove } from "../user.ts";

/** Worlds whose modules come, change and go, and the bindings that the resolver makes of it. */
export const worlds: Story = {
  name: "worlds",
  groups: [WorldInstance.group, "registry.capstan.dev"],
  controllers: ({ manager, env }: ProgramParts) =>
    (systems["resolver"] as NonNullable<(typeof systems)[string]>)({
      env,
      metrics: manager.metrics,
      registryNamespace: "capstan-system",
    } as never),
  compares: [WorldInstance, GameDefinition, ModuleManifest, CapabilityBinding, ConfigMap],
  oldVersion: withoutLabel("game.platform/world"),
  children: [CapabilityBinding],
  wants: [ModuleManifest, GameDefinition, Service, WorldInstance, CapabilityBinding],
  script,
  watch: honestWorlds,
};

const names = ["north", "south"] as const;
const versions = ["1.0.0", "1.4.0", "2.1.0"] as const;

function script(random: () => number): readonly Step[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const first: readonly (readonly [KindRef, KubeObject])[] = [
    [ModuleManifest, example.manifest("clock", [example.provides("time.source", "1.2.0")])],
    [
      ModuleManifest,
      example.manifest("physics", [example.provides("physics.engine")], [example.requires("time.source")]),
    ],
    [
      ModuleManifest,
      example.manifest("weather", [], [example.requires("physics.engine"), example.requires("time.source", ">=1.0.0")]),
    ],
    [
      GameDefinition,
      example.game(
        ["clock", "physics", "weather", "spare"].map((name) => ({ name, required: name !== "spare" })),
        "anvil",
      ),
    ],
    ...names.map((name) => [WorldInstance, example.world(name, { gameRef: { name: "anvil" } })] as const),
  ];
  const steps: Step[] = first.map(([kind, object], index) => ({
    atMs: 2_000 + index * 300,
    what: `create ${kind.kind} ${object.metadata.name}`,
    run: (client) => client.create(kind, here(object)),
  }));
  // Before anything else: who comes first decides who has the name.
  if (random() < 0.3) {
    const name = `cb-${pick(names)}-physics-time-source-world-1`;
    const run: Step["run"] = (client) => put(client, CapabilityBinding, foreignBinding(name));
    steps.push({ atMs: 1_000, what: `somebody has a binding called ${name}`, run });
  }
  const many = 4 + Math.floor(random() * 6);
  for (let index = 0; index < many; index++) {
    const atMs = 8_000 + Math.floor(random() * 140_000);
    steps.push({ atMs, ...pick(changes)(pick, random) });
  }
  // The status is not ours alone: a lamp says of a world that it is lit.
  steps.push({ atMs: 7_500, what: "somebody adds a condition", run: (client) => light(client) });
  // What a stopped world keeps depends on when it was stopped, so at the end none is.
  for (const name of names) steps.push({ atMs: 149_000, ...runs(name) });
  return steps.sort((one, other) => one.atMs - other.atMs);
}

async function light(client: Client): Promise<void> {
  const condition = {
    type: foreignCondition,
    status: "True",
    reason: "Lamp",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const lit = { metadata: { name: names[0], namespace }, status: { conditions: [condition] } };
  await client.apply(WorldInstance, lit as never, { fieldManager: "lamp", subresource: "status", force: true });
}

const runs = (name: string): Omit<Step, "atMs"> => ({
  what: `${name} runs`,
  run: (client) => change(client, WorldInstance, name, { spec: { desiredState: "Running" } }),
});

type Change = (pick: <T>(from: readonly T[]) => T, random: () => number) => Omit<Step, "atMs">;

const changes: readonly Change[] = [
  (pick) => {
    const version = pick(versions);
    const provides = [example.provides("time.source", version)];
    return {
      what: `the clock has version ${version}`,
      run: (client) => change(client, ModuleManifest, "clock", { spec: { provides } }),
    };
  },
  () => ({ what: "the physics module goes", run: (client) => remove(client, ModuleManifest, "physics") }),
  () => ({
    what: "the physics module is made anew",
    async run(client) {
      await remove(client, ModuleManifest, "physics");
      await client.create(
        ModuleManifest,
        here(
          example.manifest("physics", [example.provides("physics.engine", "1.5.0")], [example.requires("time.source")]),
        ) as ModuleManifest,
      );
    },
  }),
  () => ({
    what: "a spare clock appears",
    run: (client) => put(client, ModuleManifest, example.manifest("spare", [example.provides("time.source", "1.9.0")])),
  }),
  (pick) => {
    const name = pick(names);
    return {
      what: `${name} is stopped`,
      run: (client) => change(client, WorldInstance, name, { spec: { desiredState: "Stopped" } }),
    };
  },
  (pick) => runs(pick(names)),
  (pick) => {
    const name = pick(names);
    return {
      what: `${name} is deleted and made anew`,
      async run(client) {
        await remove(client, WorldInstance, name);
        await put(client, WorldInstance, example.world(name, { gameRef: { name: "anvil" } }));
      },
    };
  },
  (pick) => {
    const name = pick(names);
    return { what: `${name} is deleted`, run: (client) => remove(client, WorldInstance, name) };
  },
  () => ({
    what: "the clock gets a Service",
    run: (client) =>
      put(client, Service, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "clock" },
        spec: { ports: [{ port: 50_051 }] },
      } as Service),
  }),
  () => ({
    what: "physics wants a ConfigMap",
    run: (client) =>
      change(client, ModuleManifest, "physics", {
        metadata: { annotations: { "capstan.dev/endpoints": "configmap" } },
      }),
  }),
];

const foreignBinding = (name: string): CapabilityBinding =>
  ({
    apiVersion: "game.platform/v1alpha1",
    kind: "CapabilityBinding",
    metadata: { name, annotations: { [foreignAnnotation]: "true" } },
    spec: {
      capabilityId: "time.source",
      scope: "world",
      multiplicity: "1",
      consumer: { moduleManifestName: "physics" },
      provider: { moduleManifestName: "by-hand", capabilityVersion: "9.0.0" },
    },
  }) as CapabilityBinding;

/** A world that says Running has its bindings: the status comes after what it speaks of. */
function honestWorlds(look: Look): (write: Write) => string | undefined {
  return (write) => {
    if (write.resource !== WorldInstance.plural || write.subresource !== "status") return undefined;
    if (!isPlane(write.who)) return undefined;
    const world = write.answer as WorldInstance;
    if (world.status?.phase !== "Running") return undefined;
    const own = look
      .all(CapabilityBinding.plural)
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === world.metadata.uid));
    if (own.length >= requirements) return undefined;
    return `P15 ${world.metadata.name} says Running and has ${own.length} of ${requirements} bindings`;
  };
}

/** Of physics one, of weather two. */
const requirements = 3;
