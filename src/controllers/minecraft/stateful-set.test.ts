import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatefulSet } from "../../api/builtin/workloads.ts";
import { server } from "../version-solver/example-fleet.ts";
import { statefulSetOf } from "./stateful-set.ts";

const survival = server("survival", { current: "1.21.1", build: 133, paper: [] });
const common = {
  server: survival,
  image: "docker.io/lexfrei/papermc:1.21.1-133",
  pluginDigest: "digest",
  ports: [],
  trustedUrls: [],
};
const first = statefulSetOf({ ...common, ownImage: "capstan:1", isUndisturbed: false });
const existing = { ...first, kind: "StatefulSet" } as unknown as StatefulSet;
const prepared = (set: ReturnType<typeof statefulSetOf>): unknown =>
  set.spec?.template?.spec?.initContainers?.[0]?.image;

test("a new version of ours, or another mirror, does not restart a server that runs", () => {
  const next = { ...common, ownImage: "capstan:2", trustedUrls: ["http://mirror.games.svc"], existing };
  assert.deepEqual(statefulSetOf({ ...next, isUndisturbed: true }), first);
});

test("it comes with the next update, or at once to a server that does not run", () => {
  const next = statefulSetOf({ ...common, ownImage: "capstan:2", existing, isUndisturbed: false });
  assert.equal(prepared(next), "capstan:2");
});

test("what the user changes is followed even then", () => {
  const podTemplate = { spec: { containers: [{ name: "minecraft", resources: { requests: { memory: "2Gi" } } }] } };
  const changed = { ...survival, spec: { ...survival.spec, podTemplate } };
  const next = statefulSetOf({ ...common, server: changed, ownImage: "capstan:2", existing, isUndisturbed: true });
  assert.deepEqual(next.spec?.template?.spec?.containers?.[0]?.resources, { requests: { memory: "2Gi" } });
  assert.equal(prepared(next), "capstan:1");
});
