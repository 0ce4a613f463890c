import assert from "node:assert/strict";
import { test } from "node:test";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import { server as exampleServer } from "../version-solver/example-fleet.ts";
import { networkPolicyOf } from "./network-policy-of.ts";
import { serviceOf } from "./service-of.ts";
import { snapshotName, snapshotOf } from "./snapshot.ts";
import { statefulSetOf } from "./stateful-set.ts";

/** What a server is made of, as the original operator made it: others select, watch and scrape by these words. */

const rcon = { enabled: true, passwordSecret: { name: "secret", key: "word" }, port: 25_575 };
const server = (spec: Partial<PaperMCServer["spec"]> = {}): PaperMCServer =>
  exampleServer("survival", { paper: [], spec: { rcon, ...spec } });
const setOf = (spec: Partial<PaperMCServer["spec"]> = {}) =>
  statefulSetOf({
    server: server(spec),
    image: "docker.io/lexfrei/papermc:1.21.4-232",
    pluginDigest: "d",
    ports: [8_123],
    ownImage: "capstan:1",
    trustedUrls: [],
    isUndisturbed: false,
  });
const labelsOf = (component: string) => ({
  "app.kubernetes.io/name": "papermc",
  "app.kubernetes.io/instance": "survival",
  "app.kubernetes.io/managed-by": "minecraft-operator",
  "app.kubernetes.io/component": component,
  "app.kubernetes.io/part-of": "minecraft-operator",
  "capstan.dev/controller": "papermcserver",
});
const selector = { app: "papermc", "mc.k8s.lex.la/server-name": "survival" };

test("everything of a server carries its labels and belongs to it", () => {
  const policy = networkPolicyOf(
    server({ network: { networkPolicy: { enabled: true, restrictEgress: true } } }),
    [],
    "x",
  );
  assert.ok(policy.kind === "Policy");
  for (const [component, { metadata }] of [
    ["server", setOf()],
    ["service", serviceOf(server(), [])],
    ["network-policy", policy.policy],
  ] as const) {
    assert.deepEqual(metadata.labels, labelsOf(component));
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name, controller }) => [kind, name, controller]),
      [["PaperMCServer", "survival", true]],
    );
  }
});

test("the StatefulSet has one pod, its world on /data, and what the image may want to know", () => {
  const { metadata, spec } = setOf();
  assert.deepEqual([metadata.name, spec?.replicas, spec?.serviceName], ["survival", 1, "survival"]);
  assert.deepEqual(spec?.selector, { matchLabels: selector });
  const [container, ...others] = spec?.template?.spec?.containers ?? [];
  assert.equal(others.length, 0);
  assert.equal(container?.name, "papermc", "a template without a container gets one");
  assert.equal(container?.image, "docker.io/lexfrei/papermc:1.21.4-232");
  assert.deepEqual(container?.volumeMounts, [{ name: "data", mountPath: "/data" }]);
  assert.deepEqual(container?.env, [
    { name: "EULA", value: "TRUE" },
    { name: "PAPER_VERSION", value: "1.21.4" },
    { name: "PAPER_BUILD", value: "232" },
    { name: "RCON_PORT", value: "25575" },
    { name: "RCON_PASSWORD", valueFrom: { secretKeyRef: { name: "secret", key: "word" } } },
  ]);
  assert.deepEqual(spec?.volumeClaimTemplates, [
    {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
    },
  ]);
});

test("what the user's template says counts: names, variables and mounts of its own, and other containers", () => {
  const mine = {
    name: "game",
    image: "ignored",
    env: [{ name: "EULA", value: "FALSE" }],
    volumeMounts: [{ name: "elsewhere", mountPath: "/data" }],
  };
  const podTemplate = {
    metadata: { labels: { team: "a", app: "other" } },
    spec: { containers: [mine, { name: "beside" }] },
  };
  const { template } = setOf({ podTemplate }).spec ?? {};
  const [container, beside] = template?.spec?.containers ?? [];
  assert.deepEqual(
    [container?.name, container?.image, beside?.name],
    ["game", "docker.io/lexfrei/papermc:1.21.4-232", "beside"],
  );
  assert.deepEqual(container?.env?.[0], { name: "EULA", value: "FALSE" });
  assert.deepEqual(container?.volumeMounts, mine.volumeMounts);
  assert.equal(template?.metadata?.labels?.["team"], "a");
  assert.equal(template?.metadata?.labels?.["app"], "papermc", "what the pods are found by is not the user's");
});

for (const [timeout, seconds] of [
  ["300s", 300],
  ["2m", 120],
  ["0s", 300],
] as const)
  test(`gracefulShutdown.timeout ${timeout} is ${seconds} seconds of the pod's`, () =>
    assert.equal(
      setOf({ gracefulShutdown: { timeout } }).spec?.template?.spec?.terminationGracePeriodSeconds,
      seconds,
    ));

test("the Service is a load balancer unless told otherwise, with an address and annotations where asked for", () => {
  const { spec } = serviceOf(server(), [8_123]);
  assert.equal(spec?.type, "LoadBalancer");
  assert.deepEqual(spec?.selector, selector);
  assert.deepEqual(
    spec?.ports?.map(({ name, port, protocol }) => `${name} ${port}/${protocol}`),
    ["minecraft 25565/TCP", "plugin-8123-tcp 8123/TCP", "plugin-8123-udp 8123/UDP"],
  );
  const asked = serviceOf(
    server({ service: { type: "LoadBalancer", loadBalancerIP: "192.0.2.7", annotations: { pool: "games" } } }),
    [],
  );
  assert.deepEqual([asked.spec?.loadBalancerIP, asked.metadata.annotations], ["192.0.2.7", { pool: "games" }]);
});

test("the NetworkPolicy lets players, plugins and us in, and DNS, HTTPS and what is allowed out", () => {
  const network = {
    networkPolicy: {
      enabled: true,
      restrictEgress: true,
      allowFrom: [{ cidr: "10.0.0.0/8" }, { namespaceSelector: {}, podSelector: { matchLabels: { a: "b" } } }],
      allowEgressTo: [
        { cidr: "192.0.2.0/24", port: 3_306 },
        { port: 123, protocol: "UDP" as const },
      ],
    },
  };
  const result = networkPolicyOf(server({ network }), [8_123], "operators");
  assert.ok(result.kind === "Policy");
  const { metadata, spec } = result.policy;
  assert.equal(metadata.name, "survival-minecraft");
  const tcp = (port: number) => ({ protocol: "TCP", port });
  const udp = (port: number) => ({ protocol: "UDP", port });
  const from = [
    { podSelector: {} },
    { ipBlock: { cidr: "10.0.0.0/8" } },
    { podSelector: { matchLabels: { a: "b" } }, namespaceSelector: {} },
  ];
  assert.deepEqual(spec, {
    podSelector: { matchLabels: selector },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      { from, ports: [tcp(25_565)] },
      { from, ports: [tcp(8_123), udp(8_123)] },
      {
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "operators" } } }],
        ports: [tcp(25_575)],
      },
    ],
    egress: [
      { ports: [udp(53), tcp(53)] },
      { ports: [tcp(443)] },
      { to: [{ ipBlock: { cidr: "192.0.2.0/24" } }], ports: [tcp(3_306)] },
      { ports: [udp(123)] },
    ],
  });
  const open = networkPolicyOf(
    server({ network: { networkPolicy: { enabled: true, restrictEgress: false } } }),
    [],
    "x",
  );
  assert.ok(open.kind === "Policy");
  assert.deepEqual([open.policy.spec?.policyTypes, open.policy.spec?.egress], [["Ingress"], undefined]);
});

for (const [name, source, message] of [
  ["says nothing", {}, "allowFrom[0]: one of cidr, podSelector and namespaceSelector is required"],
  ["says two things", { cidr: "10.0.0.0/8", podSelector: {} }, "allowFrom[0]: cidr goes with no selector"],
  ["is no range", { cidr: "999.0.0.0/99" }, "allowFrom[0].cidr: 999.0.0.0/99 is not a range of addresses"],
] as const)
  test(`a source of the NetworkPolicy that ${name} is named by its field`, () =>
    assert.deepEqual(
      networkPolicyOf(
        server({ network: { networkPolicy: { enabled: true, restrictEgress: true, allowFrom: [source] } } }),
        [],
        "x",
      ),
      { kind: "Invalid", message: `spec.network.networkPolicy.${message}` },
    ));

test("a snapshot is of the server's volume, in the class that was asked for, with its labels", () => {
  const one = server({ backup: { enabled: true, beforeUpdate: true, volumeSnapshotClassName: "fast" } });
  const name = snapshotName(one, new Date("2026-01-15T00:00:00Z"), "manual");
  const { metadata, spec } = snapshotOf(one, name, "manual");
  assert.match(metadata.name ?? "", /^survival-backup-1768435200-/);
  assert.deepEqual(metadata.labels, {
    "mc.k8s.lex.la/server-name": "survival",
    "mc.k8s.lex.la/backup-trigger": "manual",
    "app.kubernetes.io/managed-by": "minecraft-operator",
    "capstan.dev/controller": "backup",
  });
  assert.deepEqual(spec, {
    source: { persistentVolumeClaimName: "data-survival-0" },
    volumeSnapshotClassName: "fast",
  });
});
