import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Node } from "../../api/builtin/cluster.ts";
import type { Pod } from "../../api/builtin/pod.ts";
import { wantsNode } from "./node-affinity.ts";
import { podAffinityObjection } from "./pod-affinity.ts";

const node = (name: string, labels: Readonly<Record<string, string>>): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  spec: {},
});

const laptop = node("laptop", { disk: "ssd", cores: "8", zone: "a", host: "laptop" });

const required = (term: object): object => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
});
const expression = (key: string, operator: string, ...values: readonly string[]): object =>
  required({ matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }] });
const field = (operator: string, ...values: readonly string[]): object =>
  required({ matchFields: [{ key: "metadata.name", operator, values }] });

const nodeCases: readonly [string, object | undefined, boolean][] = [
  ["no wish", undefined, true],
  ["only preferences", { nodeAffinity: {} }, true],
  ["In", expression("disk", "In", "hdd", "ssd"), true],
  ["In, of other values", expression("disk", "In", "hdd"), false],
  ["NotIn", expression("disk", "NotIn", "hdd"), true],
  ["NotIn, of its value", expression("disk", "NotIn", "ssd"), false],
  ["NotIn, of a label that is not there", expression("gpu", "NotIn", "a"), true],
  ["Exists", expression("disk", "Exists"), true],
  ["Exists, of a label that is not there", expression("gpu", "Exists"), false],
  ["DoesNotExist", expression("gpu", "DoesNotExist"), true],
  ["DoesNotExist, of a label that is there", expression("disk", "DoesNotExist"), false],
  ["Gt", expression("cores", "Gt", "7"), true],
  ["Gt, of the same number", expression("cores", "Gt", "8"), false],
  ["Lt", expression("cores", "Lt", "9"), true],
  ["Lt, of a text", expression("disk", "Lt", "9"), false],
  ["the node's name", field("In", "laptop"), true],
  ["another name", field("In", "server"), false],
  ["not the node's name", field("NotIn", "laptop"), false],
  ["not another name", field("NotIn", "server"), true],
  ["a term that asks for nothing", required({}), false],
  [
    "all of one term",
    required({
      matchExpressions: [
        { key: "disk", operator: "Exists" },
        { key: "gpu", operator: "Exists" },
      ],
    }),
    false,
  ],
  [
    "one of several terms",
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "gpu", operator: "Exists" }] },
            { matchExpressions: [{ key: "disk", operator: "Exists" }] },
          ],
        },
      },
    },
    true,
  ],
];

suite("which node a pod wants", () => {
  for (const [name, affinity, wanted] of nodeCases) {
    test(name, () => {
      const spec = { containers: [], ...(affinity && { affinity: affinity as Record<string, unknown> }) };
      assert.equal(wantsNode(spec, laptop), wanted);
    });
  }
});

type Labels = Readonly<Record<string, string>>;

const pod = (name: string, labels: Labels, affinity: object = {}, namespace = "shop"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, labels },
  spec: { containers: [], affinity: affinity as Record<string, unknown> },
});

const term = (app: string, topologyKey = "zone", more: object = {}): object => ({
  labelSelector: { matchLabels: { app } },
  topologyKey,
  ...more,
});
const near = (...terms: readonly object[]): object => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
});
const apart = (...terms: readonly object[]): object => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
});

const noAffinity = "node(s) didn't match pod affinity rules";
const noAntiAffinity = "node(s) didn't match pod anti-affinity rules";
const unwelcome = "node(s) didn't satisfy existing pods anti-affinity rules";

const server = node("server", { zone: "a", host: "server" });
const far = node("far", { zone: "b", host: "far" });

const cache = pod("cache-1", { app: "cache", version: "1" });
const store = pod("store-1", { app: "store" }, apart(term("web")));
const foreign = pod("cache-2", { app: "cache" }, {}, "other");

/** The pod, what runs where, and what is said against the laptop. */
const podCases: readonly [string, Pod, Readonly<Record<string, readonly Pod[]>>, string | undefined][] = [
  ["nobody is there", pod("web", { app: "web" }), {}, undefined],
  ["near one on the same node", pod("web", {}, near(term("cache"))), { laptop: [cache] }, undefined],
  ["near one of the same zone", pod("web", {}, near(term("cache"))), { server: [cache] }, undefined],
  ["near one of another zone", pod("web", {}, near(term("cache"))), { far: [cache] }, noAffinity],
  ["near one on the same host only", pod("web", {}, near(term("cache", "host"))), { server: [cache] }, noAffinity],
  ["near nobody", pod("web", { app: "web" }, near(term("cache"))), {}, noAffinity],
  ["near its own kind, as the first", pod("web", { app: "web" }, near(term("web"))), {}, undefined],
  [
    "near its own kind, which is elsewhere",
    pod("web", { app: "web" }, near(term("web"))),
    { far: [pod("w", { app: "web" })] },
    noAffinity,
  ],
  ["a topology that the node does not have", pod("web", { app: "web" }, near(term("web", "rack"))), {}, noAffinity],
  [
    "one pod has to satisfy all terms",
    pod("web", {}, near(term("cache"), term("store"))),
    { laptop: [cache, store] },
    noAffinity,
  ],
  ["other namespaces do not count", pod("web", {}, near(term("cache"))), { laptop: [foreign] }, noAffinity],
  [
    "unless they are named",
    pod("web", {}, near(term("cache", "zone", { namespaces: ["other"] }))),
    { laptop: [foreign] },
    undefined,
  ],
  [
    "or selected by their labels",
    pod("web", {}, near(term("cache", "zone", { namespaceSelector: { matchLabels: { team: "b" } } }))),
    { laptop: [foreign] },
    undefined,
  ],
  [
    "or not",
    pod("web", {}, near(term("cache", "zone", { namespaceSelector: { matchLabels: { team: "c" } } }))),
    { laptop: [foreign] },
    noAffinity,
  ],
  ["apart from one on the same node", pod("web", {}, apart(term("cache"))), { laptop: [cache] }, noAntiAffinity],
  ["apart from one of the same zone", pod("web", {}, apart(term("cache"))), { server: [cache] }, noAntiAffinity],
  ["apart from one on another host", pod("web", {}, apart(term("cache", "host"))), { server: [cache] }, undefined],
  ["apart from one of another zone", pod("web", {}, apart(term("cache"))), { far: [cache] }, undefined],
  [
    "apart from its own kind",
    pod("web", { app: "web" }, apart(term("web"))),
    { laptop: [pod("w", { app: "web" })] },
    noAntiAffinity,
  ],
  ["not wanted by one that is there", pod("web", { app: "web" }), { laptop: [store] }, unwelcome],
  ["not wanted by one that is far away", pod("web", { app: "web" }), { far: [store] }, undefined],
  ["wanted by one that does not mean it", pod("api", { app: "api" }), { laptop: [store] }, undefined],
  [
    "near those of its own version",
    pod("web", { version: "1" }, near(term("cache", "zone", { matchLabelKeys: ["version"] }))),
    { laptop: [cache] },
    undefined,
  ],
  [
    "near those of its own version, which are not there",
    pod("web", { version: "2" }, near(term("cache", "zone", { matchLabelKeys: ["version"] }))),
    { laptop: [cache] },
    noAffinity,
  ],
  [
    "apart from those of other versions",
    pod("web", { version: "1" }, apart(term("cache", "zone", { mismatchLabelKeys: ["version"] }))),
    { laptop: [cache] },
    undefined,
  ],
];

suite("whom a pod wants to be near", () => {
  for (const [name, subject, placed, objection] of podCases) {
    test(name, () => {
      const placement = {
        nodes: [laptop, server, far],
        podsOn: (at: string) => placed[at] ?? [],
        namespaceLabels: (namespace: string): Labels => (namespace === "other" ? { team: "b" } : {}),
      };
      assert.equal(podAffinityObjection(subject, laptop, placement), objection);
    });
  }
});
