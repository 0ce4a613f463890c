import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Node, ResourceQuota } from "../../src/api/builtin/cluster.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import type { Client } from "../../src/client/client.ts";
import { classFunction } from "../../src/controllers/class-runtime/example-class.ts";
import { defaultSettings } from "../../src/controllers/class-runtime/settings.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { eventually, namespace, startClassWorld } from "./class-runtime-world.ts";

/** What keeps the pods of a class from running, made on the embedded API, seen in its condition, and taken away again. */
interface Trouble {
  readonly name: string;
  /** Before the class is deployed. */
  prepare?(client: Client): Promise<unknown>;
  /** Once the class runs. */
  cause?(client: Client): Promise<unknown>;
  readonly reason: string;
  readonly message: RegExp;
  cure(client: Client): Promise<unknown>;
}

const simulate = (client: Client, behaviour: string | null): Promise<unknown> =>
  client.patch(
    Deployment,
    { namespace, name: "cart" },
    {
      type: "merge",
      value: { spec: { template: { metadata: { annotations: { "localnode.capstan.dev/simulate": behaviour } } } } },
    },
  );

const simulated = (behaviour: string): Pick<Trouble, "cause" | "cure"> => ({
  cause: (client) => simulate(client, behaviour),
  cure: (client) => simulate(client, null),
});

const quota = { namespace, name: "small" };

/** Counted by the node's own controller before anything else happens. */
async function limit(client: Client, hard: Readonly<Record<string, string>>): Promise<void> {
  await client.create(ResourceQuota, { metadata: quota, spec: { hard } });
  await eventually(
    () => client.get(ResourceQuota, quota),
    ({ status }) => assert.deepEqual(status?.hard, hard),
  );
}

const cordon = (client: Client, unschedulable: boolean): Promise<unknown> =>
  client.patch(Node, { name: "localnode" }, { type: "merge", value: { spec: { unschedulable } } });

const troubles: readonly Trouble[] = [
  {
    name: "an image that cannot be pulled",
    ...simulated("never-start"),
    reason: "ImagePull",
    message: /^Pod cart-\S+ cannot get image \S+: ImagePullBackOff$/,
  },
  {
    name: "a node that has too little memory",
    ...simulated("unschedulable=memory"),
    reason: "Unschedulable",
    message: /^Pod cart-\S+ fits on no node: 0\/1 nodes are available: 1 Insufficient memory\.$/,
  },
  {
    name: "a node that takes no more pods",
    prepare: (client) => cordon(client, true),
    reason: "Unschedulable",
    message: /^Pod cart-\S+ fits on no node: 0\/1 nodes are available: 1 node\(s\) were unschedulable\.$/,
    cure: (client) => cordon(client, false),
  },
  {
    name: "containers that are killed for lack of memory",
    ...simulated("oom"),
    reason: "OutOfMemory",
    message: /^Pod cart-\S+ was killed for lack of memory, restart count=[1-9]\d*\.$/,
  },
  {
    name: "a quota that leaves no room for pods, until it is gone",
    prepare: (client) => limit(client, { pods: "0" }),
    reason: "QuotaExceeded",
    message:
      /^Pods of Deployment\/cart cannot be made: pods "cart-\S+" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0$/,
    cure: (client) => client.delete(ResourceQuota, quota),
  },
  {
    name: "a quota that leaves no room for pods, until it is raised",
    prepare: (client) => limit(client, { pods: "0" }),
    reason: "QuotaExceeded",
    message: /exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0$/,
    cure: (client) => client.patch(ResourceQuota, quota, { type: "merge", value: { spec: { hard: { pods: "3" } } } }),
  },
  {
    name: "a quota that wants a limit which the class does not give",
    prepare: (client) => limit(client, { "limits.cpu": "4" }),
    reason: "QuotaExceeded",
    message: /is forbidden: failed quota: small: must specify limits\.cpu for: \S+$/,
    cure: (client) => client.delete(ResourceQuota, quota),
  },
  {
    name: "a quota that leaves no room for a Deployment",
    prepare: (client) => limit(client, { "count/deployments.apps": "0" }),
    reason: "QuotaExceeded",
    message: /^Deployment\/cart does not fit a quota: .*exceeded quota: small, requested: count\/deployments\.apps=1/,
    cure: (client) => client.delete(ResourceQuota, quota),
  },
];

const settings = {
  timeouts: { ...defaultSettings.timeouts, waitingMs: 300 },
  retry: { ...defaultSettings.retry, baseMs: 100, maxMs: 500 },
};

suite("a class tells what keeps it from running, and recovers when that is gone", () => {
  for (const { name, prepare, cause, reason, message, cure } of troubles) {
    test(name, { timeout: 180_000 }, async (context) => {
      const { client } = await startClassWorld(context, { settings });
      const reaches = (phase: string): Promise<ClassRuntime> =>
        eventually(
          () => client.get(ClassRuntime, { namespace, name: "cart" }),
          (found) => assert.equal(found.status?.phase, phase, JSON.stringify(found.status)),
        );
      if (prepare) {
        // The node registers itself; a cordon before that would be lost.
        await eventually(
          () => client.get(Node, { name: "localnode" }),
          () => undefined,
        );
        await prepare(client);
      }
      await client.create(ClassRuntime, {
        metadata: { name: "cart", namespace },
        spec: { addons: [], functions: [classFunction("shop.Cart.add")] },
      });
      if (cause) {
        await reaches("available");
        await cause(client);
      }
      await eventually(
        () => client.get(ClassRuntime, { namespace, name: "cart" }),
        ({ status }) => {
          const degraded = findCondition(status?.conditions, "Degraded");
          assert.deepEqual([degraded?.status, degraded?.reason], ["True", reason], JSON.stringify(status));
          assert.match(degraded?.message ?? "", message);
        },
      );
      await cure(client);
      const well = await reaches("available");
      assert.equal(findCondition(well.status?.conditions, "Degraded")?.status, "False");
    });
  }
});
