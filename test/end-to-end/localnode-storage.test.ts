import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { PersistentVolumeClaim } from "../../src/api/builtin/volume.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { PersistentVolume } from "../../src/localnode/storage/volume.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";
const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

test("claims get volumes, pods wait for their claims, and volumes go with their claims", async (context) => {
  const { client, dataDir } = await startNode(context, { processes: "all" });
  const phaseOf = async (name: string) => (await client.get(PersistentVolume, { name })).status?.phase;
  await eventually(
    () =>
      client.get(ServiceAccount, { namespace, name: "default" }).then(
        () => true,
        () => false,
      ),
    (isThere) => assert.ok(isThere),
  );
  await client.create(Pod, {
    metadata: { namespace, name: "user" },
    spec: {
      restartPolicy: "Never",
      containers: [
        {
          name: "c",
          image: "example/writer",
          command: ["sh", "-c", "echo kept > /data/file && test -d /mine"],
          volumeMounts: [
            { name: "data", mountPath: "/data" },
            { name: "mine", mountPath: "/mine" },
          ],
        },
      ],
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: "data" } },
        { name: "mine", persistentVolumeClaim: { claimName: "mine" } },
      ],
    },
  });
  const pod = () => client.get(Pod, { namespace, name: "user" });
  await eventually(pod, ({ status }) =>
    assert.match(findCondition(status?.conditions, "PodScheduled")?.message ?? "", /claim "data" not found/),
  );
  await client.create(PersistentVolumeClaim, { metadata: { namespace, name: "data" }, spec });
  await client.create(PersistentVolumeClaim, {
    metadata: { namespace, name: "mine" },
    spec: { ...spec, storageClassName: "" },
  });
  await eventually(pod, ({ status }) =>
    assert.match(findCondition(status?.conditions, "PodScheduled")?.message ?? "", /unbound immediate/),
  );
  // Only somebody can make a volume for a claim whose class is empty.
  await client.create(PersistentVolume, {
    metadata: { name: "mine" },
    spec: { capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: dataDir } },
  });
  await eventually(pod, ({ status }) => assert.equal(status?.phase, "Succeeded", JSON.stringify(status)));
  const bound = await client.get(PersistentVolumeClaim, { namespace, name: "mine" });
  assert.equal(bound.spec.volumeName, "mine");
  assert.deepEqual(bound.status?.capacity, { storage: "5Gi" });
  await eventually(
    () => phaseOf("mine"),
    (phase) => assert.equal(phase, "Bound"),
  );
  const folder = join(dataDir, "node", "claims", namespace, "data");
  assert.ok(existsSync(join(folder, "file")));
  const made = (await client.get(PersistentVolumeClaim, { namespace, name: "data" })).spec.volumeName ?? "";
  await eventually(
    () => phaseOf(made),
    (phase) => assert.equal(phase, "Bound"),
  );

  await client.delete(PersistentVolumeClaim, { namespace, name: "data" });
  await client.delete(PersistentVolumeClaim, { namespace, name: "mine" });
  await eventually(
    () => client.get(PersistentVolume, { name: made }).then(() => false, isNotFound),
    (isGone) => assert.ok(isGone),
  );
  assert.ok(!existsSync(folder), "the content of a volume goes with its claim");
  await eventually(
    () => phaseOf("mine"),
    (phase) => assert.equal(phase, "Released"),
  );
  assert.ok(existsSync(dataDir), "what was there before stays");
  await client.delete(PersistentVolume, { name: "mine" });
  await eventually(
    () => client.get(PersistentVolume, { name: "mine" }).then(() => false, isNotFound),
    (isGone) => assert.ok(isGone),
  );
});
