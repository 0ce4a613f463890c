import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { classFunction, type ExampleFunction } from "../../src/controllers/class-runtime/example-class.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { type ClusterWorld, eventually } from "./world.ts";

const namespace = "story-troubles";
const image = "docker.io/local/httpd:1";

interface Trouble {
  readonly name: string;
  readonly reason: string;
  readonly message: RegExp;
  readonly functions: readonly ExampleFunction[];
}

const troubles: readonly Trouble[] = [
  {
    name: "absent",
    reason: "ImagePull",
    message: /^Pod absent-\S+ cannot get image docker\.io\/local\/absent:1: (ErrImagePull|ImagePullBackOff)/,
    functions: [classFunction("shop.Absent.add", { container_image: "docker.io/local/absent:1", port: 8080 })],
  },
  {
    name: "huge",
    reason: "Unschedulable",
    message: /^Pod huge-\S+ fits on no node: .*Insufficient cpu/,
    functions: [classFunction("shop.Huge.add", { container_image: image, port: 8080, cpu_request: "1000" })],
  },
  {
    name: "greedy",
    reason: "OutOfMemory",
    message: /^Pod greedy-\S+ was killed for lack of memory, restart count=\d+/,
    functions: [
      classFunction("shop.Greedy.add", {
        container_image: "docker.io/local/greedy:1",
        port: 8080,
        memory_limit: "24Mi",
      }),
    ],
  },
  {
    name: "many",
    reason: "QuotaExceeded",
    message: /does not fit a quota: .*exceeded quota: deployments/,
    functions: Array.from({ length: 6 }, (_, index) =>
      classFunction(`shop.Many.f${index}`, { container_image: image, port: 8080 }),
    ),
  },
];

/** What only a real scheduler, a real kubelet and a real quota can do to a class, all at once. */
export async function classTroubles(context: TestContext, { client, apply, kubectl }: ClusterWorld): Promise<void> {
  const healthy = (name: string): readonly ExampleFunction[] => [
    classFunction(`shop.${name}.add`, { container_image: image, port: 8080 }),
  ];
  const reaches = (name: string, passes: (found: ClassRuntime) => void): Promise<ClassRuntime> =>
    eventually(() => client.get(ClassRuntime, { namespace, name }), passes);

  await client.create(Namespace, { metadata: { name: namespace } });
  await apply({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "deployments", namespace },
    spec: { hard: { "count/deployments.apps": "5" } },
  } as Parameters<typeof apply>[0]);
  for (const { name, functions } of troubles)
    await client.create(ClassRuntime, {
      metadata: { namespace, name },
      spec: { package_class_key: `shop.${name}`, addons: [], functions },
    });
  for (const { name, reason, message } of troubles)
    await context.test(`${reason} is told`, async () => {
      const { status } = await reaches(name, (found) => {
        const degraded = findCondition(found.status?.conditions, "Degraded");
        assert.equal(degraded?.status, "True", found.status?.message);
        assert.equal(degraded.reason, reason, degraded.message);
      });
      assert.match(status?.message ?? "", message);
    });

  await kubectl(["delete", "resourcequota", "deployments", "-n", namespace]);
  for (const { name, reason } of troubles)
    await context.test(`what is mended recovers from ${reason}`, async () => {
      await client.patch(
        ClassRuntime,
        { namespace, name },
        { type: "merge", value: { spec: { functions: healthy(name) } } },
      );
      await reaches(name, ({ status }) => assert.equal(status?.phase, "available", status?.message));
    });
  await client.delete(Namespace, { name: namespace });
}
