import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import { classFunction } from "../../src/controllers/class-runtime/example-class.ts";
import { findCondition } from "../../src/kube/condition.ts";
import type { Eventually } from "./game-platform-story.ts";

export interface ClassStory {
  readonly client: Client;
  readonly eventually: Eventually;
  /** Of a function that answers. */
  readonly image: string;
  /** Of one that ends as soon as it is started; absent where containers are not real. */
  readonly crashingImage?: string;
}

const namespace = "story-classes";

/** A class from its first apply to its end, with a real crash loop where containers are real. */
export async function classStory(context: TestContext, story: ClassStory): Promise<void> {
  const { client, eventually, image, crashingImage } = story;
  const key = { namespace, name: "cart" };
  const functionsOf = (second: string): ClassRuntime["spec"]["functions"] => [
    classFunction("shop.Cart.add", { container_image: image, port: 8080 }),
    classFunction("shop.Cart.sum", { container_image: second, port: 8080, min_scale: 2 }),
  ];
  const reaches = (phase: string): Promise<ClassRuntime> =>
    eventually(
      () => client.get(ClassRuntime, key),
      (found) => assert.equal(found.status?.phase, phase, found.status?.message),
    );
  const deploy = (second: string): Promise<ClassRuntime> =>
    client.patch(ClassRuntime, key, { type: "merge", value: { spec: { functions: functionsOf(second) } } });

  await context.test("a class becomes available when all pods of its functions run", async () => {
    await client.create(Namespace, { metadata: { name: namespace } });
    await client.create(ClassRuntime, {
      metadata: key,
      spec: { package_class_key: "shop.Cart", addons: [], functions: functionsOf(image) },
    });
    const { status } = await reaches("available");
    assert.deepEqual(
      status?.functions?.map(({ function_key, ready }) => [function_key, ready]),
      [
        ["shop.Cart.add", true],
        ["shop.Cart.sum", true],
      ],
    );
    const pods = (await client.list(Pod, { namespace, labelSelector: "oaas.io/owner=cart" })).items;
    assert.equal(pods.length, 3);
    for (const pod of pods) assert.equal(findCondition(pod.status?.conditions, "Ready")?.status, "True");
  });

  await context.test(
    "a function that crashes again and again degrades it, and says which",
    {
      skip: crashingImage ? false : "containers are not real here",
    },
    async () => {
      await deploy(crashingImage ?? "");
      const sick = await reaches("degraded");
      assert.equal(findCondition(sick.status?.conditions, "Degraded")?.reason, "CrashLoop");
      assert.match(sick.status?.message ?? "", /^Pod cart-fn-1-\S+ restart count=\d+\./);
      await deploy(image);
      await reaches("available");
    },
  );

  await context.test("it goes with everything that it has made", async () => {
    await client.delete(ClassRuntime, key);
    await eventually(
      () =>
        client.get(ClassRuntime, key).then(
          () => "there",
          (error: unknown) => (isNotFound(error) ? "gone" : Promise.reject(error)),
        ),
      (state) => assert.equal(state, "gone"),
    );
    await eventually(
      () => client.list(Deployment, { namespace }),
      ({ items }) => assert.equal(items.length, 0),
    );
    await client.delete(Namespace, { name: namespace });
  });
}
