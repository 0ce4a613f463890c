import assert from "node:assert/strict";
import { assertStatus, type Case, type Context, mergePatch, type Reply } from "../case.ts";

const limitRange = async (t: Context, ...limits: readonly object[]): Promise<Reply> =>
  t.create(await t.core("limitranges"), { metadata: { name: "l" }, spec: { limits } });

async function pods(t: Context): Promise<string> {
  await t.create(await t.core("serviceaccounts"), { metadata: { name: "s" } });
  return t.core("pods");
}

const pod = (containers: readonly object[], spec: object = {}): object => ({
  metadata: { name: "p" },
  spec: { serviceAccountName: "s", containers, ...spec },
});

const container = (name: string, requests: object = {}, limits: object = {}): object => ({
  name,
  image: "x",
  resources: { requests, limits },
});

/** A real server reads the ranges from a cache, so that it may take a moment until it knows them. */
const refused = async (t: Context, path: string, body: object): Promise<Reply> =>
  t.eventually("a refusal", async () => {
    const reply = await t.request("POST", `${path}?dryRun=All`, body);
    return reply.status === 201 ? undefined : reply;
  });

/** The limits, the pod that breaks them, and why it is refused. */
const refusals: readonly [string, object, object, string][] = [
  [
    "a container that asks for less than the minimum",
    { type: "Container", min: { memory: "10Mi" } },
    pod([container("c", { memory: "5Mi" })]),
    "minimum memory usage per Container is 10Mi, but request is 5Mi",
  ],
  [
    "a container that may use less than the minimum",
    { type: "Container", min: { cpu: "100m" }, defaultRequest: { cpu: "200m" } },
    pod([container("c", { cpu: "100m" }, { cpu: "50m" })]),
    'Pod "p" is invalid: spec.containers[0].resources.requests: Invalid value: "100m": must be less than or equal to cpu limit of 50m',
  ],
  [
    "a container that may use more than the maximum",
    { type: "Container", max: { cpu: "1" } },
    pod([container("c", { cpu: "1" }, { cpu: "1500m" })]),
    "maximum cpu usage per Container is 1, but limit is 1500m",
  ],
  [
    "an init container like any other",
    { type: "Container", max: { cpu: "1" } },
    pod([container("c")], { initContainers: [container("i", {}, { cpu: "2" })] }),
    "maximum cpu usage per Container is 1, but limit is 2",
  ],
  [
    "a container whose limit is too far above its request",
    { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
    pod([container("c", { cpu: "200m" }, { cpu: "500m" })]),
    "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000",
  ],
  [
    "a container without a limit where a ratio is wanted",
    { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
    pod([container("c", { cpu: "200m" })]),
    "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
  ],
  [
    "a container without a request where a ratio is wanted",
    { type: "Container", maxLimitRequestRatio: { memory: "2" } },
    pod([container("c")]),
    "memory max limit to request ratio per Container is 2, but no request is specified or request is 0",
  ],
  [
    "a pod whose containers together may use more than the maximum",
    { type: "Pod", max: { cpu: "1" } },
    pod([container("a", {}, { cpu: "600m" }), container("b", {}, { cpu: "600m" })]),
    "maximum cpu usage per Pod is 1, but limit is 1200m",
  ],
  [
    "a pod without a limit where a maximum is set",
    { type: "Pod", max: { memory: "1Gi" } },
    pod([container("a", { memory: "1Mi" })]),
    "maximum memory usage per Pod is 1Gi.  No limit is specified",
  ],
  [
    "a pod without a request where a minimum is set",
    { type: "Pod", min: { memory: "1Gi" } },
    pod([container("a")]),
    "minimum memory usage per Pod is 1Gi.  No request is specified",
  ],
  [
    "a pod whose sidecar makes it too large",
    { type: "Pod", max: { cpu: "1" } },
    pod([container("a", {}, { cpu: "600m" })], {
      initContainers: [{ ...container("s", {}, { cpu: "600m" }), restartPolicy: "Always" }],
    }),
    "maximum cpu usage per Pod is 1, but limit is 1200m",
  ],
];

/** What LimitRanges fill in and refuse. */
export const limitRangeCases: readonly Case[] = [
  {
    name: "limit ranges: containers that say nothing get the defaults, and an annotation tells it",
    async run(t) {
      await limitRange(t, {
        type: "Container",
        default: { cpu: "500m", memory: "64Mi" },
        defaultRequest: { cpu: "250m" },
      });
      const path = await pods(t);
      const body = pod([container("a"), container("b", { cpu: "1m" }, { memory: "1Gi" })], {
        initContainers: [container("i", {}, { cpu: "1", memory: "1Mi" })],
      });
      const made = await t.eventually("the defaults", async () => {
        const reply = await t.create(`${path}?dryRun=All`, body);
        return reply.at("metadata.annotations") === undefined ? undefined : reply;
      });
      const resources = made.list("spec.containers").map((one) => one.at("resources"));
      assert.deepEqual(resources, [
        { limits: { cpu: "500m", memory: "64Mi" }, requests: { cpu: "250m", memory: "64Mi" } },
        { limits: { cpu: "500m", memory: "1Gi" }, requests: { cpu: "1m", memory: "1Gi" } },
      ]);
      const told =
        "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; cpu limit for container b";
      assert.equal(made.at("metadata.annotations[kubernetes.io/limit-ranger]"), told);
      assert.equal(made.at("status.qosClass"), "Burstable");
    },
  },
  {
    name: "limit ranges: a maximum is a default too, and a minimum a default request",
    async run(t) {
      const made = await limitRange(t, { type: "Container", max: { cpu: "2" }, min: { memory: "1Mi" } });
      const limit = made.list("spec.limits")[0];
      assert.deepEqual(limit?.at("default"), { cpu: "2" });
      assert.deepEqual(limit?.at("defaultRequest"), { cpu: "2", memory: "1Mi" });
    },
  },
  {
    name: "limit ranges: one without a name gets one",
    async run(t) {
      const made = await t.create(await t.core("limitranges"), { spec: { limits: [] } });
      assert.match(made.text("metadata.name"), /^[0-9a-f-]{36}$/);
    },
  },
  ...refusals.map(
    ([name, limits, body, why]): Case => ({
      name: `limit ranges: refuse ${name}`,
      async run(t) {
        await limitRange(t, limits);
        const reply = await refused(t, await pods(t), body);
        if (why.startsWith("Pod")) assertStatus(reply, 422, "Invalid", why);
        else assertStatus(reply, 403, "Forbidden", `pods "p" is forbidden: ${why}`);
      },
    }),
  ),
  {
    name: "limit ranges: claims are neither too small nor too large, nor do they become so",
    async run(t) {
      await limitRange(t, { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } });
      const path = await t.core("persistentvolumeclaims");
      const claim = (storage: string): object => ({
        metadata: { name: "c" },
        spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage } } },
      });
      const small = await refused(t, path, claim("1Mi"));
      const tooSmall = "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi";
      assertStatus(small, 403, "Forbidden", `persistentvolumeclaims "c" is forbidden: ${tooSmall}`);
      const large = await refused(t, path, claim("3Gi"));
      const tooLarge = "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi";
      assertStatus(large, 403, "Forbidden", `persistentvolumeclaims "c" is forbidden: ${tooLarge}`);
      await t.create(path, claim("2Gi"));
      await t.patch(`${path}/c`, mergePatch, { metadata: { labels: { a: "b" } } });
    },
  },
  {
    name: "limit ranges: what they fill in satisfies a quota",
    async run(t) {
      const quotas = await t.core("resourcequotas");
      const hard = { "limits.cpu": "1" };
      const made = await t.create(quotas, { metadata: { name: "q" }, spec: { hard } });
      await t.put(`${quotas}/q/status`, { ...made.object(), status: { hard, used: { "limits.cpu": "0" } } });
      const path = await pods(t);
      assertStatus(await refused(t, path, pod([container("c")])), 403, "Forbidden", /must specify limits.cpu for: c$/);
      await limitRange(t, { type: "Container", default: { cpu: "400m" } });
      await t.eventually(
        "the default",
        async () => (await t.request("POST", path, pod([container("c")]))).status === 201,
      );
      assert.deepEqual((await t.get(`${quotas}/q`)).at("status.used"), { "limits.cpu": "400m" });
    },
  },
];
