import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { chooseVolume } from "./choose-volume.ts";
import type { PersistentVolume } from "./volume.ts";

const claim = (spec: object = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { namespace: "a", name: "c", uid: "u" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});

const volume = (name: string, spec: object = {}, metadata: object = {}): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, ...metadata },
  spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, ...spec },
});

const taken = { claimRef: { namespace: "a", name: "other", uid: "x" } };

interface Case {
  readonly name: string;
  readonly claim?: object;
  readonly volumes?: readonly PersistentVolume[];
  readonly gets: string;
}

const cases: readonly Case[] = [
  { name: "a new one when there is none", gets: "Provision" },
  { name: "one that fits", volumes: [volume("v")], gets: "v" },
  {
    name: "the smallest that is large enough",
    volumes: [
      volume("large", { capacity: { storage: "9Gi" } }),
      volume("small", { capacity: { storage: "500Mi" } }),
      volume("fits", { capacity: { storage: "2Gi" } }),
    ],
    gets: "fits",
  },
  {
    name: "one that was reserved for it before any other",
    volumes: [volume("free"), volume("reserved", { claimRef: { namespace: "a", name: "c" } })],
    gets: "reserved",
  },
  { name: "none that is taken", volumes: [volume("v", taken)], gets: "Provision" },
  { name: "none of another class", volumes: [volume("v", { storageClassName: "fast" })], gets: "Provision" },
  {
    name: "one of its class",
    claim: { storageClassName: "fast" },
    volumes: [volume("plain"), volume("v", { storageClassName: "fast" })],
    gets: "v",
  },
  {
    name: "none without its access mode",
    claim: { accessModes: ["ReadWriteMany"] },
    volumes: [volume("v")],
    gets: "Provision",
  },
  { name: "none of another mode", claim: { volumeMode: "Block" }, volumes: [volume("v")], gets: "Provision" },
  {
    name: "one that its selector selects",
    claim: { selector: { matchLabels: { a: "b" } } },
    volumes: [volume("plain"), volume("v", {}, { labels: { a: "b" } })],
    gets: "v",
  },
  {
    name: "none that is going",
    volumes: [volume("v", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
    gets: "Provision",
  },
  {
    name: "none at all when its class is empty",
    claim: { storageClassName: "" },
    gets: "no persistent volumes available for this claim and no storage class is set",
  },
  { name: "the one that it names", claim: { volumeName: "v" }, volumes: [volume("other"), volume("v")], gets: "v" },
  { name: "nothing while the one that it names is missing", claim: { volumeName: "v" }, gets: 'volume "v" not found' },
  {
    name: "nothing while the one that it names is somebody else's",
    claim: { volumeName: "v" },
    volumes: [volume("v", taken)],
    gets: 'volume "v" already bound to a different claim.',
  },
];

describe("a claim gets", () => {
  for (const each of cases) {
    it(each.name, () => {
      const choice = chooseVolume(claim(each.claim), each.volumes ?? []);
      const got =
        choice.kind === "Bind" ? choice.volume.metadata.name : choice.kind === "Wait" ? choice.why : choice.kind;
      assert.equal(got, each.gets);
    });
  }
});
