import assert from "node:assert/strict";
import { test } from "node:test";
import type { Deployment, ReplicaSet } from "../../api/builtin/workloads.ts";
import { findCondition } from "../../kube/condition.ts";
import { evaluate } from "./evaluate.ts";

const start = new Date(Date.UTC(2026, 0, 1));
const at = (seconds: number): Date => new Date(start.getTime() + seconds * 1000);

function deployment(spec: Partial<Deployment["spec"]>, image = "web:1"): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "n", uid: "d", generation: 1 },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }] } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 2,
      ...spec,
    },
  };
}

/** Does what a decision says, and lets `ready` of the pods of each set become available. */
class World {
  sets: ReplicaSet[] = [];
  deployment: Deployment;
  seconds = 0;

  constructor(made: Deployment) {
    this.deployment = made;
  }

  step(becomesReady: (set: ReplicaSet) => boolean = () => true): boolean {
    this.seconds++;
    const snapshot = {
      deployment: this.deployment,
      sets: this.sets,
      setsWithPods: new Set<string>(),
      now: at(this.seconds),
    };
    const { draft, status, revision } = evaluate(snapshot);
    const before = JSON.stringify([this.sets, this.deployment.status]);
    const doomed = new Set(draft.doomed.map(({ metadata }) => metadata.name));
    this.sets = draft.all
      .filter(({ metadata }) => !doomed.has(metadata.name))
      .map((set) => {
        const replicas = set.spec.replicas ?? 0;
        const was = set.status?.availableReplicas ?? 0;
        const available = becomesReady(set) ? replicas : Math.min(was, replicas);
        return {
          ...set,
          metadata: {
            ...set.metadata,
            uid: set.metadata.name,
            creationTimestamp: set.metadata.creationTimestamp ?? at(this.seconds).toISOString(),
          },
          status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1 },
        };
      });
    const annotations = {
      ...this.deployment.metadata.annotations,
      ...(revision && { "deployment.kubernetes.io/revision": revision }),
    };
    this.deployment = { ...this.deployment, metadata: { ...this.deployment.metadata, annotations }, status };
    return JSON.stringify([this.sets, this.deployment.status]) !== before;
  }

  settle(): number {
    for (let steps = 1; steps < 200; steps++) if (!this.step()) return steps;
    throw new Error("it never settles");
  }

  use(image: string): void {
    const { spec } = this.deployment;
    const template = { ...spec.template, spec: { containers: [{ name: "web", image }] } };
    this.deployment = { ...this.deployment, spec: { ...spec, template } };
  }

  get total(): number {
    return this.sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
  }
  get available(): number {
    return this.sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
  }
  get reason(): string | undefined {
    return findCondition(this.deployment.status?.conditions, "Progressing")?.reason;
  }
}

test("a rolling update never leaves its limits, and always comes to an end", () => {
  for (const replicas of [1, 2, 3, 5, 10]) {
    for (const maxSurge of [0, 1, "25%", "100%"]) {
      for (const maxUnavailable of [0, 1, "25%", "100%"]) {
        const rollingUpdate = { maxSurge, maxUnavailable };
        const world = new World(deployment({ replicas, strategy: { type: "RollingUpdate", rollingUpdate } }));
        world.settle();
        assert.equal(world.available, replicas);
        world.use("web:2");
        const share = (value: number | string, round: (n: number) => number): number =>
          typeof value === "number" ? value : round((Number.parseInt(value, 10) / 100) * replicas);
        const surge = share(maxSurge, Math.ceil);
        const missing = share(maxUnavailable, Math.floor) || (surge === 0 ? 1 : 0);
        for (let steps = 0; world.step(); steps++) {
          const where = `${JSON.stringify({ replicas, maxSurge, maxUnavailable, steps })}: ${world.available} of ${world.total}`;
          assert.ok(world.total <= replicas + surge, `too many at ${where}`);
          assert.ok(world.available >= replicas - missing, `too few at ${where}`);
          assert.ok(steps < 100, `no end at ${where}`);
        }
        assert.equal(world.reason, "NewReplicaSetAvailable");
        assert.equal(world.total, replicas);
      }
    }
  }
});

test("a new template that never becomes ready stops the rollout, and its time is up after the deadline", () => {
  const world = new World(deployment({ progressDeadlineSeconds: 60 }));
  world.settle();
  const [old] = world.sets;
  world.use("web:2");
  for (let step = 0; step < 30; step++) world.step((set) => set.metadata.name === old?.metadata.name);
  assert.equal(world.reason, "ReplicaSetUpdated");
  assert.equal(world.available, 3);
  for (let step = 0; step < 60; step++) world.step((set) => set.metadata.name === old?.metadata.name);
  assert.equal(world.reason, "ProgressDeadlineExceeded");
  assert.equal(world.available, 3);
  world.use("web:1");
  world.settle();
  assert.equal(world.reason, "NewReplicaSetAvailable");
});

test("a rollback takes the former set again, with a new number and its former one in the history", () => {
  const world = new World(deployment({}));
  world.settle();
  const first = world.sets[0]?.metadata.name;
  world.use("web:2");
  world.settle();
  world.use("web:1");
  world.settle();
  const back = world.sets.find(({ metadata }) => metadata.name === first);
  assert.equal(back?.spec.replicas, 4);
  assert.equal(back?.metadata.annotations?.["deployment.kubernetes.io/revision"], "3");
  assert.equal(back?.metadata.annotations?.["deployment.kubernetes.io/revision-history"], "1");
  assert.equal(world.sets.length, 2);
});

test("only as many former sets are kept as asked for", () => {
  const world = new World(deployment({ revisionHistoryLimit: 2 }));
  for (let version = 1; version <= 6; version++) {
    world.use(`web:${version}`);
    world.settle();
  }
  assert.deepEqual(
    world.sets.map(({ metadata }) => metadata.annotations?.["deployment.kubernetes.io/revision"]).sort(),
    ["4", "5", "6"],
  );
});

test("a change of size in the middle of a rollout is shared by all sets in proportion", () => {
  const world = new World(
    deployment({
      replicas: 10,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    }),
  );
  world.settle();
  const old = world.sets[0]?.metadata.name ?? "";
  world.use("web:2");
  for (let step = 0; step < 5; step++) world.step((set) => set.metadata.name === old);
  const sizes = (): readonly number[] => world.sets.map(({ spec }) => spec.replicas ?? 0).sort((a, b) => a - b);
  assert.deepEqual(sizes(), [2, 10]);
  world.deployment = { ...world.deployment, spec: { ...world.deployment.spec, replicas: 20 } };
  world.step((set) => set.metadata.name === old);
  assert.deepEqual(sizes(), [4, 18]);
  assert.equal(world.total, 22);
});

test("a paused rollout keeps its sets as they are, but follows a change of size", () => {
  const world = new World(deployment({}));
  world.settle();
  world.deployment = { ...world.deployment, spec: { ...world.deployment.spec, paused: true } };
  world.use("web:2");
  world.settle();
  assert.equal(world.sets.length, 1);
  assert.equal(world.reason, "DeploymentPaused");
  world.deployment = { ...world.deployment, spec: { ...world.deployment.spec, replicas: 6 } };
  world.settle();
  assert.equal(world.total, 6);
  world.deployment = { ...world.deployment, spec: { ...world.deployment.spec, paused: false } };
  world.settle();
  assert.equal(world.sets.length, 2);
  assert.equal(world.reason, "NewReplicaSetAvailable");
});
