import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { CapabilityBinding } from "../../src/api/capability-binding.ts";
import { demoServices } from "../../src/control-plane/demo-services.ts";
import { applyObjects } from "../../src/control-plane/install.ts";
import { eventually, startEmbedded } from "./embedded.ts";

const namespace = "anvil-demo";

test("the demo's providers are live services: bindings follow them when they come and go", {
  timeout: 180_000,
}, async (context) => {
  const { plane, client } = await startEmbedded(context, ["demo/10-game-world.yaml"], {
    threads: { provide: join(import.meta.dirname, "../../src/cli/provide-main.ts") },
  });
  await applyObjects(client, demoServices({ registryUrl: plane.http, image: "capstan:test" }));
  const endpoints = async (): Promise<readonly (string | undefined)[]> =>
    (await client.list(CapabilityBinding, { namespace })).items
      .filter(({ spec }) => spec.capabilityId === "time.source" && spec.provider !== undefined)
      .map(({ status }) => status?.resolvedEndpoint);

  const [endpoint = ""] = await eventually(endpoints, (found) => {
    assert.ok(found.length > 0);
    assert.ok(
      found.every((address) => address !== undefined && address === found[0]),
      JSON.stringify(found),
    );
  });
  const answer = (await (await fetch(`http://${endpoint.replace(/^\w+:\/\//, "")}/`)).json()) as { service?: string };
  assert.equal(answer.service, "core-time-source", "somebody really answers there");

  // As kill -9 would: no goodbye is said. What comes in its place listens elsewhere, and the binding follows.
  const [pod] = (await client.list(Pod, { namespace })).items.filter(({ metadata }) =>
    /^providers-/.test(metadata.name),
  );
  await client.delete(Pod, { namespace, name: pod?.metadata.name ?? "" }, { gracePeriodSeconds: 0 });
  await assert.rejects(fetch(`http://${endpoint.replace(/^\w+:\/\//, "")}/`), "nobody answers there any more");
  await eventually(endpoints, (found) =>
    assert.ok(
      found.every((address) => address !== undefined && address !== endpoint),
      JSON.stringify(found),
    ),
  );

  await client.patch(Deployment, { namespace, name: "providers" }, { type: "merge", value: { spec: { replicas: 0 } } });
  await eventually(endpoints, (found) => assert.ok(found.every((address) => address === undefined)));
});
