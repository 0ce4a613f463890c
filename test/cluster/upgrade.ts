import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { CapabilityBinding } from "../../src/api/capability-binding.ts";
import { WorldInstance } from "../../src/api/world-instance.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { becomesReady } from "./install.ts";
import { type ClusterWorld, eventually, objectsIn, objectsOf } from "./world.ts";

const namespace = "anvil-demo";
const key = { namespace, name: "anvil-sample-world" };
/** Taken out of the earlier definition, so that the new one adds it. */
const addedField = "desiredState";

/** What there was before: an image of an earlier commit, and a definition that lacks a field. */
export async function installEarlier(
  context: TestContext,
  world: ClusterWorld,
  manifests: string,
): Promise<ReadonlyMap<string, string>> {
  await world.apply(...objectsIn(readFileSync(manifests, "utf8")).map(withoutField));
  await becomesReady(world, context);
  await world.apply(...objectsOf("demo/10-game-world.yaml"));
  await eventually(
    () => world.client.get(WorldInstance, key),
    ({ status }) => assert.equal(status?.phase, "Running"),
  );
  await setField(world, "Running");
  assert.equal((await world.client.get(WorldInstance, key)).spec[addedField], undefined, "the field is not known yet");
  return bindings(world);
}

/** Afterwards: the same objects, still bound, and the new field is kept. */
export async function checkUpgraded(world: ClusterWorld, before: ReadonlyMap<string, string>): Promise<void> {
  assert.ok(before.size > 0);
  await setField(world, "Running");
  await eventually(
    () => world.client.get(WorldInstance, key),
    ({ spec, status }) => {
      assert.equal(spec[addedField], "Running");
      assert.equal(status?.phase, "Running");
    },
  );
  assert.deepEqual(await bindings(world), before);
}

const setField = (world: ClusterWorld, value: string): Promise<WorldInstance> =>
  world.client.patch(WorldInstance, key, { type: "merge", value: { spec: { [addedField]: value } } });

async function bindings({ client }: ClusterWorld): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.list(CapabilityBinding, { namespace });
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid ?? ""] as const).sort());
}

function withoutField(object: KubeObject): KubeObject {
  if (object.metadata.name !== "worldinstances.game.platform") return object;
  const copy = structuredClone(object) as KubeObject & Definition;
  for (const { schema } of copy.spec.versions) {
    const { properties } = schema.openAPIV3Schema.properties.spec;
    assert.ok(addedField in properties, `the definition has ${addedField}`);
    delete properties[addedField];
  }
  return copy;
}

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: { readonly spec: { readonly properties: Record<string, unknown> } };
        };
      };
    }[];
  };
}
