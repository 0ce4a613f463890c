import assert from "node:assert/strict";
import { assertStatus, type Case, configMap, mergePatch } from "../case.ts";

/** Deletion: preconditions, finalizers, propagation, grace. */
export const deleteCases: readonly Case[] = [
  {
    name: "delete: answers a Status with the uid of what is gone",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(path, configMap("a"));
      const reply = await t.remove(`${path}/a`);
      assert.equal(reply.at("kind"), "Status");
      assert.equal(reply.at("status"), "Success");
      assert.deepEqual(reply.at("details"), { name: "a", kind: "configmaps", uid: made.at("metadata.uid") });
      assertStatus(await t.request("DELETE", `${path}/a`), 404, "NotFound", 'configmaps "a" not found');
    },
  },
  {
    name: "delete: services and serviceaccounts answer the object",
    async run(t) {
      await t.create(await t.core("serviceaccounts"), { metadata: { name: "a" } });
      assert.equal((await t.remove(`${await t.core("serviceaccounts")}/a`)).at("kind"), "ServiceAccount");
    },
  },
  {
    name: "delete: a uid precondition protects a successor",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(path, configMap("a"));
      const reply = await t.request("DELETE", `${path}/a`, { preconditions: { uid: "x" } });
      assertStatus(
        reply,
        409,
        "Conflict",
        `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (${made.text("metadata.uid")}). The object might have been deleted and then recreated`,
      );
      await t.remove(`${path}/a`, { preconditions: { uid: made.at("metadata.uid") } });
    },
  },
  {
    name: "delete: a resourceVersion precondition protects a change",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const reply = await t.request("DELETE", `${path}/a`, { preconditions: { resourceVersion: "1" } });
      assertStatus(
        reply,
        409,
        "Conflict",
        /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record/,
      );
    },
  },
  {
    name: "delete: finalizers hold the object until the last one is gone",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", {}, { finalizers: ["example.com/one", "example.com/two"] }));
      const marked = await t.remove(`${path}/a`);
      assert.equal(marked.at("kind"), "ConfigMap");
      assert.ok(marked.at("metadata.deletionTimestamp"));
      assert.equal(marked.at("metadata.deletionGracePeriodSeconds"), 0);
      await t.patch(`${path}/a`, mergePatch, { metadata: { finalizers: ["example.com/two"] } });
      await t.get(`${path}/a`);
      await t.patch(`${path}/a`, mergePatch, { metadata: { finalizers: null } });
      assertStatus(await t.request("GET", `${path}/a`), 404, "NotFound");
    },
  },
  {
    name: "delete: no new finalizer on an object that is going",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", {}, { finalizers: ["example.com/one"] }));
      await t.remove(`${path}/a`);
      const reply = await t.request(
        "PATCH",
        `${path}/a`,
        { metadata: { finalizers: ["example.com/one", "example.com/new"] } },
        { contentType: mergePatch },
      );
      assertStatus(
        reply,
        422,
        "Invalid",
        /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers/,
      );
      await t.patch(`${path}/a`, mergePatch, { metadata: { finalizers: null } });
    },
  },
  {
    name: "delete: a second delete of a held object answers it unchanged",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", {}, { finalizers: ["example.com/one"] }));
      const first = await t.remove(`${path}/a`);
      const second = await t.remove(`${path}/a`);
      assert.equal(second.at("metadata.resourceVersion"), first.at("metadata.resourceVersion"));
      await t.patch(`${path}/a`, mergePatch, { metadata: { finalizers: null } });
    },
  },
  {
    name: "delete: a create while the old object is held says so",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", {}, { finalizers: ["example.com/one"] }));
      await t.remove(`${path}/a`);
      assertStatus(
        await t.request("POST", path, configMap("a")),
        409,
        "AlreadyExists",
        'object is being deleted: configmaps "a" already exists',
      );
      await t.patch(`${path}/a`, mergePatch, { metadata: { finalizers: null } });
    },
  },
  {
    name: "delete: propagationPolicy Foreground and Orphan leave work for the garbage collector",
    async run(t) {
      const path = await t.core("configmaps");
      for (const [policy, finalizer] of [
        ["Foreground", "foregroundDeletion"],
        ["Orphan", "orphan"],
      ] as const) {
        const name = policy.toLowerCase();
        await t.create(path, configMap(name, {}, { finalizers: ["example.com/hold"] }));
        const marked = await t.remove(`${path}/${name}`, { propagationPolicy: policy });
        assert.ok((marked.at("metadata.finalizers") as string[]).includes(finalizer), policy);
        await t.patch(`${path}/${name}`, mergePatch, { metadata: { finalizers: null } });
      }
    },
  },
  {
    name: "delete: propagationPolicy in the query",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", {}, { finalizers: ["example.com/hold"] }));
      const marked = await t.remove(`${path}/a?propagationPolicy=Orphan`);
      assert.ok((marked.at("metadata.finalizers") as string[]).includes("orphan"));
      await t.patch(`${path}/a`, mergePatch, { metadata: { finalizers: null } });
    },
  },
  {
    name: "delete: an unknown propagationPolicy is invalid",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      assertStatus(
        await t.request("DELETE", `${path}/a`, { propagationPolicy: "Foo" }),
        422,
        "Invalid",
        /propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"/,
      );
      assertStatus(
        await t.request("DELETE", `${path}/a`, { propagationPolicy: "Background", orphanDependents: true }),
        422,
        "Invalid",
        /orphanDependents and deletionPropagation cannot be both set/,
      );
    },
  },
  {
    name: "delete: options that cannot be read are BadRequest",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      assertStatus(await t.request("DELETE", `${path}/a`, undefined, { raw: "garbage" }), 400, "BadRequest");
      await t.get(`${path}/a`);
    },
  },
  {
    name: "delete: jobs keep their pods by default, with a warning",
    async run(t) {
      const path = await t.group("batch/v1", "jobs");
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } };
      await t.create(path, { metadata: { name: "j" }, spec: { template } });
      const reply = await t.remove(`${path}/j`);
      assert.match(reply.warnings.join(), /child pods are preserved by default when jobs are deleted/);
      await t.request("PATCH", `${path}/j`, { metadata: { finalizers: null } }, { contentType: mergePatch });
    },
  },
  {
    name: "delete: a pod on a node gets its grace period, one without goes at once",
    async run(t) {
      await t.create(await t.core("serviceaccounts"), { metadata: { name: "s" } });
      const path = await t.core("pods");
      const pod = (name: string, more: object) => ({
        metadata: { name },
        spec: { serviceAccountName: "s", containers: [{ name: "c", image: "x" }], ...more },
      });
      await t.create(path, pod("placed", { nodeName: "n", terminationGracePeriodSeconds: 7 }));
      const marked = await t.remove(`${path}/placed`);
      assert.equal(marked.at("metadata.deletionGracePeriodSeconds"), 7);
      await t.remove(`${path}/placed?gracePeriodSeconds=0`);
      assertStatus(await t.request("GET", `${path}/placed`), 404, "NotFound");
      await t.create(path, pod("waiting", {}));
      await t.remove(`${path}/waiting`);
      assertStatus(await t.request("GET", `${path}/waiting`), 404, "NotFound");
    },
  },
  {
    name: "deletecollection: removes what a list with the selector would show",
    async run(t) {
      const path = await t.core("configmaps");
      for (const name of ["a", "b", "c"])
        await t.create(path, configMap(name, {}, { labels: { keep: name === "b" ? "yes" : "no" } }));
      const reply = await t.remove(`${path}?labelSelector=keep%3Dno`);
      assert.equal(reply.at("kind"), "ConfigMapList");
      assert.equal(reply.list("items").length, 2);
      assert.deepEqual(
        (await t.get(path)).list("items").map((item) => item.at("metadata.name")),
        ["b"],
      );
    },
  },
  {
    name: "deletecollection: namespaces and cluster-wide collections of services cannot be deleted this way",
    async run(t) {
      assertStatus(await t.request("DELETE", "/api/v1/namespaces"), 405, "MethodNotAllowed");
    },
  },
  {
    name: "owners: an owner reference must name its owner fully",
    async run(t) {
      const path = await t.core("configmaps");
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x" };
      assertStatus(
        await t.request("POST", path, configMap("a", {}, { ownerReferences: [owner] })),
        422,
        "Invalid",
        /metadata.ownerReferences.uid: Invalid value: "": must not be empty/,
      );
      const two = ["1", "2"].map((uid) => ({ ...owner, uid, controller: true }));
      assertStatus(
        await t.request("POST", path, configMap("a", {}, { ownerReferences: two })),
        422,
        "Invalid",
        /Only one reference can have Controller set to true/,
      );
    },
  },
  {
    name: "owners: dependents go with their owner",
    needs: ["garbage-collector"],
    async run(t) {
      const path = await t.core("configmaps");
      const owner = await t.create(path, configMap("owner"));
      const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.at("metadata.uid") };
      await t.create(path, configMap("child", {}, { ownerReferences: [reference] }));
      await t.remove(`${path}/owner`);
      await t.eventually("the child is gone", async () => (await t.request("GET", `${path}/child`)).status === 404);
    },
  },
];
