import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { classFunction } from "../../src/controllers/class-runtime/example-class.ts";
import { eventually, namespace, startClassWorld } from "./class-runtime-world.ts";

test("a degraded class asks for its remediation once per incident", { timeout: 180_000 }, async (context) => {
  const { client } = await startClassWorld(context);
  const key = { namespace, name: "cart" };
  const spec = (image: string) => ({
    functions: [{ ...classFunction("a"), provision_config: image ? { container_image: image } : {} }],
  });
  await client.create(ClassRuntime, {
    metadata: { ...key, annotations: { "capstan.dev/remediation": "first-aid" } },
    spec: { addons: [], ...spec("") } as unknown as ClassRuntime["spec"],
  });
  await eventually(
    () => client.list(Event, { namespace }),
    ({ items }) =>
      assert.ok(
        items.some(
          ({ reason, message }) =>
            reason === "RemediationRefused" && message?.includes("ConfigMap first-aid has no key request.yaml"),
        ),
      ),
  );
  await client.create(ConfigMap, {
    metadata: { namespace, name: "first-aid" },
    data: { "request.yaml": "severity: critical\nenvironment: production\nrollbackOnFailure: true\n" },
  });
  const requests = () => client.list(RemediationRequest, { namespace });
  const annotate = (note: string) =>
    client.patch(ClassRuntime, key, { type: "merge", value: { metadata: { annotations: { note } } } });
  await annotate("look again");
  const first = await eventually(requests, ({ items }) => assert.equal(items.length, 1));
  const [request] = first.items;
  assert.equal(request?.spec.severity, "critical");
  assert.equal(request?.spec.signalName, "ClassRuntimeApplyInvalid");
  assert.equal(request?.spec.targetResource?.name, "cart");
  assert.match(request?.metadata.name ?? "", /^cart-[0-9a-f]{10}$/);

  await annotate("and again");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.equal((await requests()).items.length, 1);

  const phase = (wanted: string) =>
    eventually(
      () => client.get(ClassRuntime, key),
      ({ status }) => assert.equal(status?.phase, wanted),
    );
  await client.patch(ClassRuntime, key, { type: "merge", value: { spec: spec("example/echo:1") } });
  await phase("available");
  await client.patch(ClassRuntime, key, {
    type: "merge",
    value: {
      spec: { functions: [{ function_key: "a", provision_config: { container_image: "x", cpu_limit: "much" } }] },
    },
  });
  await phase("degraded");
  await eventually(requests, ({ items }) => assert.equal(items.length, 2));
});
