import assert from "node:assert/strict";
import { assertStatus, type Case, type Context, mergePatch, type Reply } from "../case.ts";

/** Field selectors whose value is not simply what stands at their path. */

const names = (reply: Reply): readonly string[] =>
  reply
    .list("items")
    .map((item) => item.text("metadata.name"))
    .sort();

async function selected(t: Context, path: string, selector: string): Promise<readonly string[]> {
  return names(await t.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`));
}

async function pods(t: Context): Promise<string> {
  await t.create(await t.core("serviceaccounts"), { metadata: { name: "s" } });
  const path = await t.core("pods");
  const spec = { serviceAccountName: "s", containers: [{ name: "c", image: "x" }] };
  for (const [name, more] of [
    ["own", {}],
    ["host", { hostNetwork: true }],
  ] as const) {
    await t.create(path, { metadata: { name }, spec: { ...spec, ...more, nodeSelector: { "no-such-label": "x" } } });
    t.onCleanUp(() => t.request("DELETE", `${path}/${name}?gracePeriodSeconds=0`));
  }
  const status = { podIP: "10.1.1.1", podIPs: [{ ip: "10.1.1.1" }] };
  await t.patch(`${path}/own/status`, mergePatch, { status });
  return path;
}

const event = (name: string, more: object): object => ({
  metadata: { name },
  involvedObject: { kind: "Pod", name: "p", namespace: "NAMESPACE", uid: "u1", fieldPath: "spec.x" },
  reason: "R",
  type: "Normal",
  ...more,
});

async function events(t: Context): Promise<string> {
  const path = await t.core("events");
  const namespace = await t.namespace();
  const modern = {
    reportingComponent: "ctl",
    reportingInstance: "i",
    action: "a",
    eventTime: "2026-01-01T00:00:00.000000Z",
  };
  for (const made of [event("old", { source: { component: "kubelet" } }), event("new", modern)]) {
    await t.create(path, JSON.parse(JSON.stringify(made).replaceAll("NAMESPACE", namespace)));
  }
  return path;
}

type Table = readonly (readonly [selector: string, expected: readonly string[]])[];

const podTable: Table = [
  ["spec.hostNetwork=true", ["host"]],
  ["spec.hostNetwork=false", ["own"]],
  ["status.podIP=10.1.1.1", ["own"]],
  ["status.podIP=", ["host"]],
  ["spec.nodeName=", ["host", "own"]],
  ["spec.schedulerName=default-scheduler", ["host", "own"]],
  ["spec.serviceAccountName=s", ["host", "own"]],
];

const eventTable: Table = [
  ["source=kubelet", ["old"]],
  ["source=ctl", ["new"]],
  ["reportingComponent=ctl", ["new"]],
  ["reportingComponent=", ["old"]],
  ["involvedObject.uid=u1", ["new", "old"]],
  ["involvedObject.fieldPath=spec.x", ["new", "old"]],
  ["involvedObject.resourceVersion=", ["new", "old"]],
];

const newEventTable: Table = [
  ["regarding.kind=Pod", ["new", "old"]],
  ["regarding.uid=u1", ["new", "old"]],
  ["regarding.name=q", []],
  ["reportingController=ctl", ["new"]],
  ["reportingController=", ["old"]],
];

export const selectorCases: readonly Case[] = [
  ...podTable.map(
    ([selector, expected]): Case => ({
      name: `selectors: pods with ${selector}`,
      run: async (t) => assert.deepEqual(await selected(t, await pods(t), selector), expected),
    }),
  ),
  ...eventTable.map(
    ([selector, expected]): Case => ({
      name: `selectors: events with ${selector}`,
      run: async (t) => assert.deepEqual(await selected(t, await events(t), selector), expected),
    }),
  ),
  ...newEventTable.map(
    ([selector, expected]): Case => ({
      name: `selectors: events of the new group with ${selector}`,
      async run(t) {
        await events(t);
        assert.deepEqual(await selected(t, await t.group("events.k8s.io/v1", "events"), selector), expected);
      },
    }),
  ),
  {
    name: "selectors: nodes that may be scheduled to",
    async run(t) {
      for (const [name, unschedulable] of [
        [`free-${t.id}`, false],
        [`cordoned-${t.id}`, true],
      ] as const) {
        await t.create("/api/v1/nodes", { metadata: { name }, spec: { unschedulable } });
        t.onCleanUp(() => t.request("DELETE", `/api/v1/nodes/${name}`));
      }
      const ours = async (selector: string): Promise<readonly string[]> =>
        (await selected(t, "/api/v1/nodes", selector)).filter((name) => name.endsWith(t.id));
      assert.deepEqual(await ours("spec.unschedulable=false"), [`free-${t.id}`]);
      assert.deepEqual(await ours("spec.unschedulable=true"), [`cordoned-${t.id}`]);
    },
  },
  {
    name: "selectors: jobs by how many of their pods have succeeded",
    async run(t) {
      const path = await t.group("batch/v1", "jobs");
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } };
      await t.create(path, { metadata: { name: "j" }, spec: { suspend: true, template } });
      t.onCleanUp(() => t.request("DELETE", `${path}/j?propagationPolicy=Background`));
      assert.deepEqual(await selected(t, path, "status.successful=0"), ["j"]);
      assert.deepEqual(await selected(t, path, "status.successful=1"), []);
      const reply = await t.request("GET", `${path}?fieldSelector=status.failed%3D1`);
      assertStatus(reply, 400, "BadRequest", 'field label "status.failed" not supported for Job');
    },
  },
  {
    name: "selectors: replica sets have no field of their own",
    async run(t) {
      const reply = await t.request(
        "GET",
        `${await t.group("apps/v1", "replicasets")}?fieldSelector=status.replicas%3D1`,
      );
      const message = '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"';
      assertStatus(reply, 400, "BadRequest", message);
    },
  },
];
