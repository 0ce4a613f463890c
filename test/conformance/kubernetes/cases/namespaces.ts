import assert from "node:assert/strict";
import { assertStatus, type Case, type Context, configMap, mergePatch } from "../case.ts";

async function ownNamespace(t: Context, metadata: object = {}): Promise<string> {
  const name = `n-${t.id}`;
  await t.create("/api/v1/namespaces", { metadata: { name, ...metadata } });
  t.onCleanUp(async () => {
    await t.request("DELETE", `/api/v1/namespaces/${name}`);
    await t.request("PUT", `/api/v1/namespaces/${name}/finalize`, { metadata: { name }, spec: { finalizers: [] } });
  });
  return name;
}

/** The life of a namespace. */
export const namespaceCases: readonly Case[] = [
  {
    name: "namespace: is born active, labelled and with its finalizer",
    async run(t) {
      const name = await ownNamespace(t);
      const namespace = await t.get(`/api/v1/namespaces/${name}`);
      assert.equal(namespace.at("status.phase"), "Active");
      assert.deepEqual(namespace.at("spec.finalizers"), ["kubernetes"]);
      assert.equal(namespace.at("metadata.labels[kubernetes.io/metadata.name]"), name);
    },
  },
  {
    name: "namespace: the name is a label, not a subdomain",
    async run(t) {
      assertStatus(
        await t.request("POST", "/api/v1/namespaces", { metadata: { name: "a.b" } }),
        422,
        "Invalid",
        /metadata.name: Invalid value: "a.b": must not contain dots/,
      );
    },
  },
  {
    name: "namespace: its name label cannot be changed",
    async run(t) {
      const name = await ownNamespace(t);
      const after = await t.request(
        "PATCH",
        `/api/v1/namespaces/${name}`,
        { metadata: { labels: { "kubernetes.io/metadata.name": "x" } } },
        { contentType: mergePatch },
      );
      assert.equal(
        after.status === 200 ? after.at("metadata.labels[kubernetes.io/metadata.name]") : "refused",
        after.status === 200 ? name : "refused",
      );
    },
  },
  {
    name: "namespace: the system namespaces are there",
    async run(t) {
      for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
        assert.equal((await t.get(`/api/v1/namespaces/${name}`)).at("status.phase"), "Active");
      }
    },
  },
  {
    name: "namespace: default may not be deleted",
    async run(t) {
      const reply = await t.request("DELETE", "/api/v1/namespaces/default");
      assertStatus(reply, 403, "Forbidden", 'namespaces "default" is forbidden: this namespace may not be deleted');
    },
  },
  {
    name: "namespace: a deleted one terminates, and nothing new may come",
    async run(t) {
      const name = await ownNamespace(t, { finalizers: ["example.com/hold"] });
      await t.create(`/api/v1/namespaces/${name}/configmaps`, configMap("before"));
      const marked = await t.remove(`/api/v1/namespaces/${name}`);
      assert.equal(marked.at("kind"), "Namespace");
      assert.equal(marked.at("status.phase"), "Terminating");
      const reply = await t.request("POST", `/api/v1/namespaces/${name}/configmaps`, configMap("late"));
      assertStatus(
        reply,
        403,
        "Forbidden",
        `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
      );
      assert.equal(reply.at("details.causes[0].reason"), "NamespaceTerminating");
      await t.patch(`/api/v1/namespaces/${name}`, mergePatch, { metadata: { finalizers: null } });
    },
  },
  {
    name: "namespace: finalize lets it go",
    async run(t) {
      const name = await ownNamespace(t);
      await t.remove(`/api/v1/namespaces/${name}`);
      await t.request("PUT", `/api/v1/namespaces/${name}/finalize`, { metadata: { name }, spec: { finalizers: [] } });
      await t.eventually(
        "the namespace is gone",
        async () => (await t.request("GET", `/api/v1/namespaces/${name}`)).status === 404,
      );
    },
  },
  {
    name: "namespace: finalizers in the spec change through finalize only",
    async run(t) {
      const name = await ownNamespace(t);
      const after = await t.patch(`/api/v1/namespaces/${name}`, mergePatch, { spec: { finalizers: [] } });
      assert.deepEqual(after.at("spec.finalizers"), ["kubernetes"]);
    },
  },
  {
    name: "namespace: its content goes with it",
    needs: ["namespace-controller"],
    async run(t) {
      const name = `n-${t.id}`;
      await t.create("/api/v1/namespaces", { metadata: { name } });
      await t.create(`/api/v1/namespaces/${name}/configmaps`, configMap("a"));
      await t.remove(`/api/v1/namespaces/${name}`);
      await t.eventually(
        "the namespace is gone",
        async () => (await t.request("GET", `/api/v1/namespaces/${name}`)).status === 404,
        30_000,
      );
      assert.deepEqual((await t.get(`/api/v1/namespaces/${name}/configmaps`)).at("items"), []);
    },
  },
];
