import assert from "node:assert/strict";
import { test } from "node:test";
import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { ModuleManifest } from "../../api/module-manifest.ts";
import { annotations } from "../../api/well-known.ts";
import type { WorldInstance } from "../../api/world-instance.ts";
import { bindingName, distinctBindingName } from "./binding-name.ts";
import { nothingToWrite } from "./binding-plan.ts";
import { eventsOf } from "./controller.ts";
import type { DesiredBinding } from "./desired-bindings.ts";
import { type Decision, evaluate } from "./evaluate.ts";
import { game, manifest, namespace, provides, requires, world } from "./example-world.ts";
import { reduce } from "./reduce.ts";
import { resolveGame } from "./resolution.ts";

const now = new Date("2026-01-01T00:00:00Z");
const timeSource = manifest("core-time-source", [provides("time.source", "1.0.0")]);
const physics = manifest("core-physics-engine", [provides("physics.engine")], [requires("time.source")]);
const interaction = manifest("core-interaction-engine", [], [requires("physics.engine")]);

test("the specification's two examples come out as it prints them", () => {
  const { apply } = planOf(decide(world(), [timeSource, physics, interaction]));
  assert.deepEqual(
    apply.map(({ spec }) => spec),
    [
      {
        capabilityId: "physics.engine",
        scope: "world",
        multiplicity: "1",
        worldRef: { name: "anvil-sample-world" },
        consumer: {
          moduleManifestName: "core-interaction-engine",
          requirement: { versionConstraint: "^1.0.0", dependencyMode: "required" },
        },
        provider: { moduleManifestName: "core-physics-engine", capabilityVersion: "1.0.0" },
      },
      {
        capabilityId: "time.source",
        scope: "world",
        multiplicity: "1",
        worldRef: { name: "anvil-sample-world" },
        consumer: {
          moduleManifestName: "core-physics-engine",
          requirement: { versionConstraint: "^1.0.0", dependencyMode: "required" },
        },
        provider: { moduleManifestName: "core-time-source", capabilityVersion: "1.0.0" },
      },
    ],
  );
  assert.deepEqual(apply[0]?.metadata.labels, {
    "game.platform/managed-by": "capabilityresolver",
    "game.platform/world": "anvil-sample-world",
    "game.platform/game": "anvil-sample",
    "game.platform/capabilityId": "physics.engine",
    "capstan.dev/controller": "capability-resolver",
    "app.kubernetes.io/managed-by": "capstan",
  });
  assert.equal(apply[0]?.metadata.ownerReferences?.[0]?.uid, "uid-anvil-sample-world");
});

const statuses: readonly {
  readonly name: string;
  readonly modules: readonly ModuleManifest[] | undefined;
  readonly phase: string;
  readonly modulesResolved: string;
  readonly bindingsResolved: string;
  readonly message: RegExp;
}[] = [
  {
    name: "a missing game",
    modules: undefined,
    phase: "Error",
    modulesResolved: "False/GameDefinitionNotFound",
    bindingsResolved: "False/GameDefinitionNotFound",
    message: /^GameDefinitionNotFound: anvil-sample$/,
  },
  {
    name: "missing modules come before an unreadable constraint",
    modules: [manifest("core-physics-engine", [], [requires("time.source", "nonsense")])],
    phase: "Error",
    modulesResolved: "False/ModuleManifestNotFound",
    bindingsResolved: "False/ModuleManifestNotFound",
    message: /^ModuleManifestNotFound: core-interaction-engine, core-time-source$/,
  },
  {
    name: "an unreadable constraint comes before an unmet requirement",
    modules: [
      timeSource,
      manifest("core-physics-engine", [], [requires("time.source", "=x=", { dependencyMode: "optional" })]),
      interaction,
    ],
    phase: "Error",
    modulesResolved: "True/ModulesLoaded",
    bindingsResolved: "False/InvalidSemverConstraint",
    message: /core-physics-engine spec\.requires\[0\]\.versionConstraint "=x=" for time\.source, column 3/,
  },
  {
    name: "an unmet required requirement",
    modules: [timeSource, manifest("core-physics-engine", [], []), interaction],
    phase: "Error",
    modulesResolved: "True/ModulesLoaded",
    bindingsResolved: "False/UnresolvedRequired",
    message: /^core-interaction-engine requires physics\.engine \(no module of the game provides physics\.engine\)$/,
  },
  {
    name: "an unmet optional requirement",
    modules: [
      timeSource,
      physics,
      manifest("core-interaction-engine", [], [requires("audio.mixer", "*", { dependencyMode: "optional" })]),
    ],
    phase: "Running",
    modulesResolved: "True/ModulesLoaded",
    bindingsResolved: "True/AllResolved",
    message: /^All required bindings resolved \(1 optional unresolved: core-interaction-engine requires audio\.mixer/,
  },
  {
    name: "everything resolved",
    modules: [timeSource, physics, interaction],
    phase: "Running",
    modulesResolved: "True/ModulesLoaded",
    bindingsResolved: "True/AllResolved",
    message: /^All required bindings resolved$/,
  },
];

for (const { name, modules, phase, modulesResolved, bindingsResolved, message } of statuses) {
  test(`status of ${name}`, () => {
    const subject = world();
    const status = reduce(subject, decide(subject, modules), now);
    const condition = (type: string): string => {
      const found = status.conditions?.find((entry) => entry.type === type);
      assert.equal(found?.observedGeneration, 3);
      return `${found?.status}/${found?.reason}`;
    };
    assert.equal(status.phase, phase);
    assert.match(status.message ?? "", message);
    assert.equal(condition("ModulesResolved"), modulesResolved);
    assert.equal(condition("BindingsResolved"), bindingsResolved);
    assert.equal(status.observedGeneration, 3);
  });
}

test("satisfiable bindings are written although others are not", () => {
  const broken = manifest("core-interaction-engine", [], [requires("nobody.has", "*"), requires("physics.engine")]);
  assert.equal(planOf(decide(world(), [timeSource, physics, broken])).apply.length, 2);
});

test("nothing is written when nothing changed", () => {
  const first = planOf(decide(world(), [timeSource, physics, interaction]));
  const again = planOf(decide(world(), [timeSource, physics, interaction], first.apply.map(stored)));
  assert.deepEqual(again, { ...nothingToWrite, unchanged: 2 });
});

test("an edited binding is put back, a stale one removed, a person's own left alone", () => {
  const subject = world();
  const [first, second] = planOf(decide(subject, [timeSource, physics, interaction])).apply.map(stored);
  assert.ok(first && second);
  const edited = {
    ...first,
    spec: { ...first.spec, provider: { ...first.spec.provider, moduleManifestName: "elsewhere" } },
  };
  const stale = { ...second, metadata: { ...second.metadata, name: "cb-old" } };
  const byHand: CapabilityBinding = { ...second, metadata: { name: "by-hand", namespace } };
  const plan = planOf(decide(subject, [timeSource, physics, interaction], [edited, second, stale, byHand]));
  assert.deepEqual(names(plan.apply), [first.metadata.name]);
  assert.deepEqual(names(plan.remove), ["cb-old"]);
});

test("a name that a person's binding has is not taken from it", () => {
  const [first] = planOf(decide(world(), [timeSource, physics, interaction])).apply.map(stored);
  assert.ok(first);
  const byHand: CapabilityBinding = { ...first, metadata: { name: first.metadata.name, namespace } };
  const subject = world();
  const decision = decide(subject, [timeSource, physics, interaction], [byHand]);
  assert.deepEqual(planOf(decision).taken, [first.metadata.name]);
  assert.match(reduce(subject, decision, now).message ?? "", /not ours and left alone: cb-/);
});

test("a binding that lost our mark or its owner is put back by force, a new one never is", () => {
  const subject = world();
  const [first, second] = planOf(decide(subject, [timeSource, physics, interaction])).apply.map(stored);
  assert.ok(first && second);
  const { labels: _, ...unmarked } = first.metadata;
  const { ownerReferences: __, ...orphaned } = second.metadata;
  const edited = [
    { ...first, metadata: unmarked },
    { ...second, metadata: orphaned },
  ];
  const plan = planOf(decide(subject, [timeSource, physics, interaction], edited));
  assert.deepEqual(names(plan.apply), [first.metadata.name, second.metadata.name]);
  assert.deepEqual([...plan.putBack].sort(), names(plan.apply));
  assert.deepEqual([...planOf(decide(subject, [timeSource, physics, interaction])).putBack], []);
});

test("a name that something else in the namespace has is told apart by a hash, and then stays", () => {
  const held = "cb-anvil-sample-world-core-physics-engine-time-source-world-1";
  const isHeldElsewhere = (name: string): boolean => name === held;
  const subject = world();
  const modules = [timeSource, physics, interaction];
  const first = planOf(decide(subject, modules, [], isHeldElsewhere));
  const [, apart] = names(first.apply);
  assert.match(apart ?? "", /^cb-anvil-sample-world-core-physics-engine-time-source-world-1-[0-9a-f]{8}$/);
  const later = planOf(decide(subject, modules, first.apply.map(stored)));
  assert.deepEqual(later, { ...nothingToWrite, unchanged: 2 });
  const afresh = first.apply.map(stored).map((binding) => structuredClone(binding));
  assert.deepEqual(planOf(decide(subject, modules, afresh)), { ...nothingToWrite, unchanged: 2 });
});

test("worlds and consumers whose names run together get a binding each", () => {
  const identity = { capabilityId: "time.source", scope: "world", multiplicity: "1", provider: "p" };
  const [one, other] = [
    { world: "a-b", consumer: "c", ...identity },
    { world: "a", consumer: "b-c", ...identity },
  ];
  assert.equal(bindingName(one), bindingName(other));
  assert.notEqual(distinctBindingName(one), distinctBindingName(other));
  assert.equal(distinctBindingName(one), distinctBindingName({ ...one, provider: "q" }));
});

test("bindings of a deleted namesake are removed, never adopted", () => {
  const before = planOf(
    decide({ ...world(), metadata: { ...world().metadata, uid: "old" } }, [timeSource, physics]),
  ).apply.map(stored);
  const plan = planOf(decide(world(), [timeSource, physics], before));
  assert.deepEqual(plan.remove, []);
  assert.deepEqual(
    plan.apply.map(({ metadata }) => plan.leftovers.get(metadata.name)),
    before,
    "the old one goes before the new one comes",
  );
  assert.equal(plan.putBack.size, 0, "and is not taken over by force");
});

test("without its game a world loses its bindings", () => {
  const before = planOf(decide(world(), [timeSource, physics, interaction])).apply.map(stored);
  assert.equal(planOf(decide(world(), undefined, before)).remove.length, 2);
});

test("a stopped world keeps what it has", () => {
  const subject = world("w", { desiredState: "Stopped" });
  const decision = decide(subject, undefined);
  assert.deepEqual(decision, { kind: "Stopped" });
  assert.equal(reduce(subject, decision, now).phase, "Stopped");
});

test("a frozen world reports a newer provider and keeps the old one until it no longer fits", () => {
  const newer = manifest("new-time-source", [provides("time.source", "1.5.0")]);
  const modules = [timeSource, physics, newer];
  const before = planOf(decide(world(), [timeSource, physics])).apply.map(stored);
  const frozen = world("anvil-sample-world", {}, { [annotations.freezeBindings]: "true" });
  const decision = decide(frozen, modules, before);
  assert.equal(planOf(decision).unchanged, 1);
  const condition = reduce(frozen, decision, now).conditions?.find(({ type }) => type === "BindingsFrozen");
  assert.equal(condition?.reason, "NewerProviderAvailable");
  assert.match(condition?.message ?? "", /core-physics-engine could take time\.source 1\.5\.0 of new-time-source/);
  const incompatible = manifest("core-time-source", [provides("time.source", "2.0.0")]);
  const forced = planOf(decide(frozen, [incompatible, physics, newer], before));
  assert.equal(forced.apply[0]?.spec.provider.moduleManifestName, "new-time-source");
});

test("a frozen world keeps the very version that it has while it is offered, of one provider and of many", () => {
  for (const multiplicity of ["1", "many"] as const) {
    const offers = (...versions: string[]): ModuleManifest =>
      manifest(
        "clock",
        versions.map((version) => provides("time.source", version, { multiplicity })),
      );
    const consumer = manifest("consumer", [], [requires("time.source", "*", { multiplicity })]);
    const before = planOf(decide(world(), [offers("1.0.0"), consumer])).apply.map(stored);
    const frozen = world("anvil-sample-world", {}, { [annotations.freezeBindings]: "true" });
    const decision = decide(frozen, [offers("1.0.0", "1.5.0"), consumer], before);
    assert.deepEqual(planOf(decision), { ...nothingToWrite, unchanged: 1 });
    assert.deepEqual(decision.kind === "Resolve" && decision.frozen?.waiting, [
      "consumer could take time.source 1.5.0 of clock",
    ]);
    const [moved, ...others] = planOf(decide(frozen, [offers("1.5.0", "1.6.0"), consumer], before)).apply;
    assert.equal(moved?.spec.provider.capabilityVersion, "1.6.0");
    assert.deepEqual(others, []);
  }
});

test("a newer provider of a frozen world is told once, by an event too", () => {
  const newer = manifest("new-time-source", [provides("time.source", "1.5.0")]);
  const before = planOf(decide(world(), [timeSource, physics])).apply.map(stored);
  const frozen = world("anvil-sample-world", {}, { [annotations.freezeBindings]: "true" });
  const decision = decide(frozen, [timeSource, physics, newer], before);
  const status = reduce(frozen, decision, now);
  const outcome = { applied: 0, removed: 0, refused: [] };
  const told = eventsOf(frozen, status, decision, outcome).map(({ reason }) => reason);
  assert.deepEqual(told, ["BindingsResolved", "NewerProviderAvailable"]);
  assert.deepEqual(eventsOf({ ...frozen, status }, status, decision, outcome), []);
});

test("a binding that the API refuses keeps the world from running, and is told once", () => {
  const subject = world();
  const decision = decide(subject, [timeSource, physics, interaction]);
  const outcome = { applied: 1, removed: 0, refused: ["cb-x: admission webhook said no"] };
  const status = reduce(subject, decision, now, outcome);
  assert.equal(status.phase, "Error");
  assert.equal(status.message, "BindingsRefused: cb-x: admission webhook said no");
  assert.equal(status.conditions?.find(({ type }) => type === "BindingsResolved")?.reason, "BindingsRefused");
  const told = eventsOf(subject, status, decision, outcome).map(({ type, reason }) => `${type} ${reason}`);
  assert.deepEqual(told, ["Warning UnresolvedBindings", "Normal BindingsApplied"]);
  assert.deepEqual(eventsOf({ ...subject, status }, status, decision, { ...outcome, applied: 0 }), []);
});

test("transition times move only when a status moves", () => {
  const subject = world();
  const first = reduce(subject, decide(subject, [timeSource, physics, interaction]), now);
  const later = new Date("2026-01-02T00:00:00Z");
  const again = reduce({ ...subject, status: first }, decide(subject, [timeSource, physics, interaction]), later);
  assert.deepEqual(again, first);
});

test("names have upstream's form; many adds the provider, 1 never does; long ones are cut with a hash", () => {
  const identity = {
    world: "W",
    consumer: "c",
    capabilityId: "time.source",
    scope: "world",
    multiplicity: "1",
    provider: "p",
  };
  assert.equal(bindingName(identity), "cb-w-c-time-source-world-1");
  assert.equal(bindingName({ ...identity, multiplicity: "many" }), "cb-w-c-time-source-world-many-p");
  const long = bindingName({ ...identity, world: "w".repeat(300) });
  assert.equal(long.length, 253);
  assert.match(long, /-[0-9a-f]{8}$/);
});

test("two capabilities whose cleaned names are equal do not share a binding", () => {
  const offers = manifest("p", [provides("a.b-c"), provides("a-b.c")]);
  const consumer = manifest("q", [], [requires("a.b-c"), requires("a-b.c")]);
  assert.equal(new Set(names(planOf(decide(world(), [offers, consumer])).apply)).size, 2);
});

function decide(
  subject: WorldInstance,
  modules: readonly ModuleManifest[] | undefined,
  bindings: readonly CapabilityBinding[] = [],
  isHeldElsewhere: (name: string) => boolean = () => false,
): Decision {
  if (!modules) return evaluate({ world: subject, bindings });
  const wanted = ["core-time-source", "core-physics-engine", "core-interaction-engine"];
  const present = modules.map(({ metadata }) => metadata.name);
  const isWhole = present.every((name) => wanted.includes(name)) && present.length !== 2;
  const definition = game(isWhole ? wanted : present);
  const resolution = resolveGame(definition, (name) => modules.find(({ metadata }) => metadata.name === name));
  return evaluate({ world: subject, game: { definition, resolution }, bindings, isHeldElsewhere });
}

function planOf(decision: Decision): Extract<Decision, { kind: "Resolve" }>["plan"] {
  assert.ok(decision.kind === "Resolve");
  return decision.plan;
}

const stored = (binding: DesiredBinding): CapabilityBinding => ({
  ...binding,
  metadata: { ...binding.metadata, uid: `uid-${binding.metadata.name}` },
});

const names = (bindings: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
  bindings.map(({ metadata }) => metadata.name);
