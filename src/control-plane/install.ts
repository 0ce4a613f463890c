import { CustomResourceDefinition } from "../api/builtin/custom-resource-definition.ts";
import { customResourceDefinitions } from "../api/crds.ts";
import { findKind } from "../api/kinds.ts";
import type { Client } from "../client/client.ts";
import { type Env, sleep } from "../env/env.ts";
import { isConditionTrue } from "../kube/condition.ts";
import type { KubeObject } from "../kube/object.ts";

/** Where the kinds are there already, nothing is written. Answers when all of them are served. */
export async function installKinds(client: Client, env: Env): Promise<void> {
  const options = { fieldManager: "capstan-install", force: true };
  const deadlineMs = env.monotonicMs() + establishTimeoutMs;
  await Promise.all(
    customResourceDefinitions.map(async (definition) => {
      let found = await client.apply(CustomResourceDefinition, definition, options);
      while (!isConditionTrue(found.status?.conditions, "Established")) {
        if (env.monotonicMs() > deadlineMs) {
          throw new Error(`${found.metadata.name} was not served within ${establishTimeoutMs} ms`);
        }
        await sleep(env, establishPollMs);
        found = await client.get(CustomResourceDefinition, { name: found.metadata.name });
      }
    }),
  );
}

const establishTimeoutMs = 30_000;
const establishPollMs = 20;

/** In the order given, so that a namespace comes before what lives in it. */
export async function applyObjects(client: Client, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const group = object.apiVersion.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
    const kind = findKind(group, object.kind) ?? (await client.discover(group, object.kind));
    if (!kind) throw new Error(`${object.kind} ${object.metadata.name}: the API does not serve ${object.apiVersion}`);
    await client.apply(kind, object, { fieldManager: "capstan-demo", force: true });
  }
}
