import assert from "node:assert/strict";
import { assertStatus, asTable, type Case, type Context, mergePatch, strategicPatch } from "../case.ts";

async function deployment(t: Context): Promise<string> {
  const path = await t.group("apps/v1", "deployments");
  const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "x" }] } };
  await t.create(path, { metadata: { name: "d" }, spec: { selector: { matchLabels: { app: "x" } }, template } });
  return `${path}/d`;
}

async function pod(t: Context, name: string, spec: object = {}, metadata: object = {}): Promise<string> {
  const accounts = await t.core("serviceaccounts");
  if ((await t.request("GET", `${accounts}/s`)).status === 404) await t.create(accounts, { metadata: { name: "s" } });
  const path = await t.core("pods");
  await t.create(path, {
    metadata: { name, ...metadata },
    spec: { serviceAccountName: "s", containers: [{ name: "c", image: "x" }], ...spec },
  });
  t.onCleanUp(() => t.request("DELETE", `${path}/${name}?gracePeriodSeconds=0`));
  return `${path}/${name}`;
}

const ephemeral = (name: string, more: object = {}): object => ({
  spec: { ephemeralContainers: [{ name, image: "busybox", ...more }] },
});

const resources = (requests: object): object => ({ spec: { containers: [{ name: "c", resources: { requests } }] } });

/** Scale, binding, eviction, logs, and pods as admission leaves them. */
export const subresourceCases: readonly Case[] = [
  {
    name: "ephemeral containers: are added through their own sub-resource, and stay",
    async run(t) {
      const path = await pod(t, "p");
      const added = await t.patch(`${path}/ephemeralcontainers`, strategicPatch, ephemeral("d"));
      assert.equal(added.at("spec.ephemeralContainers[0].imagePullPolicy"), "Always");
      assert.equal(added.at("metadata.generation"), 2);
      const gone = { spec: { ephemeralContainers: [] } };
      const reply = await t.patch(`${path}/ephemeralcontainers`, mergePatch, gone, 422);
      const why = 'Forbidden: existing ephemeral containers "d" may not be removed\n';
      assertStatus(reply, 422, "Invalid", `Pod "p" is invalid: spec.ephemeralContainers: ${why}`);
      assertStatus(await t.patch(path, strategicPatch, ephemeral("e"), 422), 422, "Invalid", /may not change fields/);
    },
  },
  {
    name: "ephemeral containers: name their mistakes",
    async run(t) {
      const path = `${await pod(t, "p")}/ephemeralcontainers`;
      const wrong = ephemeral("d", { ports: [{ containerPort: 1 }], targetContainerName: "zz" });
      const reply = await t.patch(path, strategicPatch, wrong, 422);
      const list =
        'spec.ephemeralContainers[0].targetContainerName: Not found: "zz", spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container';
      assertStatus(reply, 422, "Invalid", `Pod "p" is invalid: [${list}]`);
      const same = await t.patch(path, strategicPatch, ephemeral("c"), 422);
      assertStatus(same, 422, "Invalid", 'Pod "p" is invalid: spec.ephemeralContainers[0].name: Duplicate value: "c"');
    },
  },
  {
    name: "resize: changes resources and nothing else",
    async run(t) {
      const containers = [{ name: "c", image: "x", resources: { requests: { cpu: "10m" } } }];
      const path = await pod(t, "p", { containers });
      const resized = await t.patch(`${path}/resize`, strategicPatch, {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "other", resources: { requests: { cpu: "20m" } } }] },
      });
      assert.equal(resized.at("spec.containers[0].resources.requests.cpu"), "20m");
      assert.equal(resized.at("spec.containers[0].image"), "x");
      assert.equal(resized.at("metadata.labels"), undefined);
      const reply = await t.patch(`${path}/resize`, strategicPatch, resources({ cpu: null }), 422);
      const list =
        'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing, spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed';
      assertStatus(reply, 422, "Invalid", `Pod "p" is invalid: [${list}]`);
    },
  },
  {
    name: "exec, attach and port-forward: need a pod, and a pod with a node",
    async run(t) {
      const path = await pod(t, "p", { nodeSelector: { "no-such-label": "x" } });
      for (const sub of ["exec", "attach", "portforward"]) {
        for (const method of ["GET", "POST"]) {
          const missing = await t.request(method, `${await t.core("pods")}/no-such/${sub}?command=ls`);
          assertStatus(missing, 404, "NotFound", 'pods "no-such" not found');
          const homeless = await t.request(method, `${path}/${sub}?command=ls&container=c`);
          assertStatus(homeless, 400, "BadRequest", "pod p does not have a host assigned");
        }
      }
    },
  },
  {
    name: "exec: an upgrade is answered with the reason of its refusal",
    async run(t) {
      const reply = await t.request("POST", `${await t.core("pods")}/no-such/exec?command=ls`, undefined, {
        headers: { connection: "Upgrade", upgrade: "SPDY/3.1" },
      });
      assertStatus(reply, 404, "NotFound", 'pods "no-such" not found');
    },
  },
  {
    name: "scale: tells replicas and selector of a deployment",
    async run(t) {
      const scale = await t.get(`${await deployment(t)}/scale`);
      assert.equal(scale.at("kind"), "Scale");
      assert.equal(scale.at("spec.replicas"), 1);
      assert.deepEqual(scale.at("status"), { replicas: 0, selector: "app=x" });
    },
  },
  {
    name: "scale: its table has what is wanted and what is there",
    async run(t) {
      const path = await t.group("apps/v1", "deployments");
      const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "i" }] } };
      await t.create(path, {
        metadata: { name: "d" },
        spec: { replicas: 3, selector: { matchLabels: { app: "x" } }, template },
      });
      const table = await t.get(`${path}/d/scale`, { accept: asTable });
      assert.deepEqual(
        table.list("columnDefinitions").map((column) => column.at("name")),
        ["Name", "Desired", "Available", "Age"],
      );
      assert.deepEqual((table.at("rows[0].cells") as readonly unknown[]).slice(0, 3), ["d", 3, 0]);
    },
  },
  {
    name: "scale: a write changes the deployment and its generation",
    async run(t) {
      const path = await deployment(t);
      const scale = await t.put(`${path}/scale`, { metadata: { name: "d" }, spec: { replicas: 4 } });
      assert.equal(scale.at("spec.replicas"), 4);
      const after = await t.get(path);
      assert.equal(after.at("spec.replicas"), 4);
      assert.equal(after.at("metadata.generation"), 2);
    },
  },
  {
    name: "scale: a merge patch is how kubectl scales",
    async run(t) {
      const path = await deployment(t);
      await t.patch(`${path}/scale`, mergePatch, { spec: { replicas: 3 } });
      assert.equal((await t.get(path)).at("spec.replicas"), 3);
    },
  },
  {
    name: "scale: replicas below zero are invalid",
    async run(t) {
      const reply = await t.request("PUT", `${await deployment(t)}/scale`, {
        metadata: { name: "d" },
        spec: { replicas: -1 },
      });
      assertStatus(reply, 422, "Invalid", /spec.replicas: Invalid value: -1: must be greater than or equal to 0/);
    },
  },
  {
    name: "scale: an old resourceVersion is a Conflict",
    async run(t) {
      const path = await deployment(t);
      const scale = await t.get(`${path}/scale`);
      await t.patch(path, mergePatch, { metadata: { labels: { x: "y" } } });
      assertStatus(
        await t.request("PUT", `${path}/scale`, { ...scale.object(), spec: { replicas: 2 } }),
        409,
        "Conflict",
      );
    },
  },
  {
    name: "pod: admission gives it account, token, priority, tolerations and a phase",
    async run(t) {
      const made = await t.get(await pod(t, "p"));
      assert.equal(made.at("status.phase"), "Pending");
      assert.equal(made.at("status.qosClass"), "BestEffort");
      assert.equal(made.at("spec.priority"), 0);
      assert.equal(made.at("spec.serviceAccount"), "s");
      assert.match(made.text("spec.volumes[0].name"), /^kube-api-access-[a-z0-9]{5}$/);
      assert.equal(
        made.at("spec.containers[0].volumeMounts[0].mountPath"),
        "/var/run/secrets/kubernetes.io/serviceaccount",
      );
      assert.equal(made.list("spec.tolerations").length, 2);
    },
  },
  {
    name: "pod: without its ServiceAccount it is Forbidden",
    async run(t) {
      const reply = await t.request("POST", await t.core("pods"), {
        metadata: { name: "p" },
        spec: { serviceAccountName: "nobody", containers: [{ name: "c", image: "x" }] },
      });
      assertStatus(
        reply,
        403,
        "Forbidden",
        /error looking up service account .*\/nobody: serviceaccount "nobody" not found/,
      );
    },
  },
  {
    name: "pod: an unknown PriorityClass is Forbidden",
    async run(t) {
      await pod(t, "ok");
      const reply = await t.request("POST", await t.core("pods"), {
        metadata: { name: "p" },
        spec: { serviceAccountName: "s", priorityClassName: "nothing", containers: [{ name: "c", image: "x" }] },
      });
      assertStatus(reply, 403, "Forbidden", 'pods "p" is forbidden: no PriorityClass with name nothing was found');
    },
  },
  {
    name: "pod: the spec cannot change but for a few fields",
    async run(t) {
      const path = await pod(t, "p");
      const image = [{ op: "replace", path: "/spec/containers/0/image", value: "y" }];
      await t.expect(200, "PATCH", path, image, { contentType: "application/json-patch+json" });
      const name = [{ op: "add", path: "/spec/hostNetwork", value: true }];
      const reply = await t.request("PATCH", path, name, { contentType: "application/json-patch+json" });
      assertStatus(reply, 422, "Invalid", /spec: Forbidden: pod updates may not change fields other than/);
    },
  },
  {
    name: "binding: places a pod once",
    async run(t) {
      const path = await pod(t, "p");
      const binding = {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "p" },
        target: { kind: "Node", name: "n1" },
      };
      const reply = await t.expect(201, "POST", `${path}/binding`, binding);
      assert.equal(reply.at("status"), "Success");
      const placed = await t.get(path);
      assert.equal(placed.at("spec.nodeName"), "n1");
      assert.ok(
        placed
          .list("status.conditions")
          .some((each) => each.at("type") === "PodScheduled" && each.at("status") === "True"),
      );
      assertStatus(
        await t.request("POST", `${path}/binding`, binding),
        409,
        "Conflict",
        /pod p is already assigned to node "n1"/,
      );
    },
  },
  {
    name: "eviction: removes a pod that no budget protects",
    async run(t) {
      const path = await pod(t, "p");
      const reply = await t.expect(201, "POST", `${path}/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "p" },
      });
      assert.equal(reply.at("status"), "Success");
      assertStatus(await t.request("GET", path), 404, "NotFound");
    },
  },
  {
    name: "eviction: the pod says why it goes",
    async run(t) {
      const path = await pod(t, "p", { nodeName: "n" });
      const { resourceVersion } = (await t.get(path)).at("metadata") as { resourceVersion: string };
      const evictAt = (version: string) => ({
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: "p" },
        deleteOptions: { preconditions: { resourceVersion: version } },
      });
      assertStatus(await t.request("POST", `${path}/eviction`, evictAt("1")), 409, "Conflict");
      await t.expect(201, "POST", `${path}/eviction`, evictAt(resourceVersion));
      const left = await t.get(path);
      assert.ok(left.at("metadata.deletionTimestamp"));
      const conditions = left.at("status.conditions") as readonly { type: string; reason: string; message: string }[];
      const { reason, message } = conditions.find(({ type }) => type === "DisruptionTarget") ?? {};
      assert.deepEqual([reason, message], ["EvictionByEvictionAPI", "Eviction API: evicting"]);
    },
  },
  {
    name: "eviction: a budget without allowance refuses",
    async run(t) {
      const path = await pod(t, "p", { nodeName: "n" }, { labels: { app: "x" } });
      await t.patch(`${path}/status`, mergePatch, {
        status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
      });
      const budgets = await t.group("policy/v1", "poddisruptionbudgets");
      await t.create(budgets, {
        metadata: { name: "b" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } },
      });
      await t.patch(`${budgets}/b/status`, mergePatch, {
        status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      });
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
      const reply = await t.request("POST", `${path}/eviction`, eviction);
      assertStatus(reply, 429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.");
      assert.equal(reply.at("details.causes[0].reason"), "DisruptionBudget");
      assert.equal(
        reply.at("details.causes[0].message"),
        "The disruption budget b needs 1 healthy pods and has 1 currently",
      );
      await t.patch(`${budgets}/b/status`, mergePatch, { status: { disruptionsAllowed: 1 } });
      await t.expect(201, "POST", `${path}/eviction`, eviction);
      assert.equal((await t.get(`${budgets}/b`)).at("status.disruptionsAllowed"), 0);
    },
  },
  {
    name: "log: asks which container when there are several",
    async run(t) {
      const path = await pod(t, "p", {
        containers: [
          { name: "a", image: "x" },
          { name: "b", image: "x" },
        ],
      });
      assertStatus(
        await t.request("GET", `${path}/log`),
        400,
        "BadRequest",
        "a container name must be specified for pod p, choose one of: [a b]",
      );
      assertStatus(
        await t.request("GET", `${path}/log?container=z`),
        400,
        "BadRequest",
        "container z is not valid for pod p",
      );
    },
  },
  {
    name: "log: of a pod that is not there is NotFound",
    async run(t) {
      assertStatus(await t.request("GET", `${await t.core("pods")}/p/log`), 404, "NotFound", 'pods "p" not found');
    },
  },
  {
    name: "status: a pod's phase is written through /status only",
    async run(t) {
      const path = await pod(t, "p");
      assert.equal((await t.patch(path, mergePatch, { status: { phase: "Running" } })).at("status.phase"), "Pending");
      assert.equal(
        (await t.patch(`${path}/status`, mergePatch, { status: { phase: "Running" } })).at("status.phase"),
        "Running",
      );
    },
  },
  {
    name: "subresources: unknown ones of a built-in kind are not found",
    async run(t) {
      assertStatus(
        await t.request("GET", `${await deployment(t)}/nothing`),
        404,
        "NotFound",
        "the server could not find the requested resource",
      );
    },
  },
];
