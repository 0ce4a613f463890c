import type { KubeObject } from "../../src/kube/object.ts";

/** What the dashboard is shown in the browser tests: every system with good, waiting and bad news. */
export const minutesAgo = (minutes: number): string =>
  `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}Z`;

const thing = (apiVersion: string, kind: string, namespace: string, name: string, body: object): KubeObject =>
  ({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) }, ...body }) as KubeObject;

const condition = (type: string, status: string, reason: string, message: string, minutes: number): object => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: minutesAgo(minutes),
});

const oaas = (name: string, body: object): KubeObject =>
  thing("oaas.io/v1alpha1", "ClassRuntime", "oaas-demo", name, body);

const fn = (key: string, more: object = {}): object => ({
  function_key: key,
  provision_config: { container_image: "ghcr.io/example/echo-fn:1.4", port: 8080 },
  ...more,
});

const fnStatus = (key: string, more: object): object => ({
  function_key: key,
  service: key.replaceAll(".", "-").toLowerCase(),
  port: 80,
  predicted_url: `http://${key.replaceAll(".", "-").toLowerCase()}.oaas-demo.svc:80`,
  template: "k8s_deployment",
  lastTransitionTime: minutesAgo(6),
  ...more,
});

export const classRuntimes = (): readonly KubeObject[] => [
  oaas("greeter", {
    spec: {
      package_class_key: "demo.Greeter",
      functions: [fn("demo.Greeter.greet"), fn("demo.Greeter.count")],
      nfr_requirements: { min_throughput_rps: 200, availability_pct: 99.9 },
      enforcement: { mode: "enforce", dimensions: ["replicas", "memory"] },
      odgm_config: { collections: ["greetings"], partition_count: 1, replica_count: 1, shard_type: "mst" },
    },
    status: {
      phase: "available",
      message: "2 of 2 functions and the data store are ready",
      phase_since: minutesAgo(6),
      observed_generation: 1,
      conditions: [
        condition("Progressing", "False", "Ready", "Everything has been applied", 6),
        condition("Available", "True", "Ready", "2 of 2 functions are ready", 6),
        condition("Degraded", "False", "Ready", "Nothing is wrong", 9),
        condition("NfrObserved", "True", "PrometheusQueryOK", "Four recommendations were computed", 3),
        condition("NfrEnforced", "True", "Applied", "replicas 3 was applied", 2),
      ],
      functions: [fnStatus("demo.Greeter.greet", { ready: true }), fnStatus("demo.Greeter.count", { ready: true })],
      resource_refs: [
        { kind: "Deployment", name: "greeter-fn-0" },
        { kind: "Deployment", name: "greeter-fn-1" },
        { kind: "Deployment", name: "greeter-odgm" },
        { kind: "Service", name: "greeter-fn-0" },
        { kind: "Service", name: "greeter-fn-1" },
        { kind: "Service", name: "greeter-odgm-svc" },
      ],
      nfr_recommendations: { replicas: 3, cpu: 0.25, memory: 134217728 },
      nfr_recommendation_details: {
        replicas: { observed_at: minutesAgo(1), confidence: 0.92, basis: "prometheus: 212 requests/s" },
        cpu: { observed_at: minutesAgo(1), confidence: 0.64, basis: "prometheus: p95 of use" },
        memory: { observed_at: minutesAgo(1), confidence: 0.81, basis: "prometheus: p99 of use" },
      },
      nfr_enforcement_state: {
        replicas: { target: 3, last_change_at: minutesAgo(12), cooldown_until: minutesAgo(-3) },
        memory: { target: 134217728, last_change_at: minutesAgo(2) },
      },
      last_applied_recommendations: [
        { component: "function", dimension: "replicas", target: 3, basis: "prometheus", applied_at: minutesAgo(2) },
      ],
    },
  }),
  oaas("thumbnailer", {
    spec: { package_class_key: "media.Thumbnailer", functions: [fn("media.Thumbnailer.resize")], addons: [] },
    status: {
      phase: "degraded",
      message: "media.Thumbnailer.resize crashes: exit code 137, restarted 6 times",
      phase_since: minutesAgo(4),
      conditions: [
        condition("Available", "False", "Degraded", "0 of 1 functions are ready", 4),
        condition("Degraded", "True", "CrashLoop", "A container exits with code 137 again and again", 4),
      ],
      functions: [
        fnStatus("media.Thumbnailer.resize", {
          ready: false,
          reason: "CrashLoop",
          message: "container resize exited with code 137 and was restarted 6 times",
        }),
      ],
      resource_refs: [{ kind: "Deployment", name: "thumbnailer-fn-0" }],
    },
  }),
  oaas("ledger", {
    spec: { package_class_key: "bank.Ledger", functions: [fn("bank.Ledger.post")], addons: [] },
    status: {
      phase: "progressing",
      message: "waiting for bank.Ledger.post",
      phase_since: minutesAgo(0.3),
      functions: [fnStatus("bank.Ledger.post", { ready: false })],
    },
  }),
];

const minecraft = (kind: string, name: string, body: object): KubeObject =>
  thing("mc.k8s.lex.la/v1beta1", kind, "minecraft", name, body);

const server = (name: string, strategy: string, status: object): KubeObject =>
  minecraft("PaperMCServer", name, {
    spec: {
      updateStrategy: strategy,
      ...(strategy === "pin" && { version: "1.20.6" }),
      updateSchedule: { checkCron: "0 3 * * *", maintenanceWindow: { enabled: true, cron: "0 4 * * 0" } },
      gracefulShutdown: { timeout: "300s" },
      rcon: { enabled: false, passwordSecret: { name: "rcon", key: "password" } },
      podTemplate: { spec: { containers: [{ name: "papermc", image: "lexfrei/papermc:1.20.6-151" }] } },
    },
    status: {
      availableVersions: [
        { version: "1.21.4", build: 232, channel: "STABLE", imageAvailable: true },
        { version: "1.20.6", build: 151, channel: "STABLE", imageAvailable: true },
      ],
      lastFetched: minutesAgo(14),
      repositoryStatus: "available",
      ...status,
    },
  });

const pluginOn = (name: string, version: string, more: object = {}): object => ({
  pluginRef: { name, namespace: "minecraft" },
  resolvedVersion: version,
  currentVersion: version,
  compatible: true,
  source: "hangar",
  ...more,
});

const release = (version: string, minecraftVersions: readonly string[], days: number): object => ({
  version,
  minecraftVersions,
  downloadURL: `https://hangar.example/${version}.jar`,
  hash: "",
  cachedAt: minutesAgo(60),
  releasedAt: minutesAgo(days * 1440),
});

const plugin = (name: string, version: string, releases: readonly object[], servers: number): KubeObject =>
  minecraft("Plugin", name, {
    spec: { source: { type: "hangar", project: name }, updateStrategy: "latest", instanceSelector: {} },
    status: {
      resolvedVersion: version,
      availableVersions: releases,
      matchedCount: servers,
      repositoryStatus: "available",
      conditions: [condition("Compatible", "True", "AllServersCompatible", "It fits all of its servers", 40)],
    },
  });

const blocked = {
  blocked: true,
  reason: "Plugin 'bluemap' is incompatible with Paper 1.21.4",
  blockedBy: { plugin: "bluemap", version: "3.20", supportedVersions: ["1.20.6", "1.20.4", "1.20.2"] },
};

export const minecraftObjects = (): readonly KubeObject[] => [
  plugin("bluemap", "3.20", [release("3.20", ["1.20.2", "1.20.4", "1.20.6"], 90), release("3.18", ["1.20.4"], 200)], 2),
  plugin(
    "essentialsx",
    "2.21.0",
    [release("2.21.0", ["1.20.4", "1.20.6", "1.21.1", "1.21.4"], 30), release("2.20.1", ["1.20.4"], 300)],
    3,
  ),
  plugin("luckperms", "5.4.150", [release("5.4.150", ["1.20.6", "1.21.4"], 20)], 3),
  server("survival", "auto", {
    currentVersion: "1.20.6",
    currentBuild: 149,
    desiredVersion: "1.20.6",
    desiredBuild: 151,
    updateBlocked: blocked,
    availableUpdate: {
      version: "1.20.6",
      build: 151,
      releasedAt: minutesAgo(4000),
      plugins: [],
      foundAt: minutesAgo(14),
    },
    plugins: [pluginOn("bluemap", "3.20"), pluginOn("essentialsx", "2.21.0"), pluginOn("luckperms", "5.4.150")],
    conditions: [condition("UpdateBlocked", "True", "UpdateBlocked", blocked.reason, 14)],
  }),
  server("creative", "auto", {
    currentVersion: "1.21.4",
    currentBuild: 232,
    desiredVersion: "1.21.4",
    desiredBuild: 232,
    updateBlocked: { blocked: false },
    plugins: [
      pluginOn("essentialsx", "2.21.0", { currentVersion: "2.20.1", desiredVersion: "2.21.0" }),
      pluginOn("luckperms", "5.4.150"),
    ],
    conditions: [condition("StatefulSetReady", "True", "StatefulSetReady", "1 of 1 pods are ready", 200)],
  }),
  server("lobby", "pin", {
    currentVersion: "1.20.6",
    currentBuild: 151,
    desiredVersion: "1.20.6",
    desiredBuild: 151,
    updateBlocked: { blocked: false },
    plugins: [
      pluginOn("bluemap", "3.20"),
      pluginOn("essentialsx", "2.21.0", { compatible: false, currentVersion: "2.19.0", resolvedVersion: "" }),
      pluginOn("luckperms", "5.4.150"),
    ],
    conditions: [condition("StatefulSetReady", "True", "StatefulSetReady", "1 of 1 pods are ready", 900)],
  }),
];

export function service(index: number, health: string, more: object = {}): KubeObject {
  const types = ["tool-invoker", "resource-provider", "code-execution-engine", "multi-capability"];
  const languages = ["java", "python", "rust", "go"];
  return thing(
    "registry.capstan.dev/v1alpha1",
    "ServiceTarget",
    "capstan-system",
    `st-${String(index).padStart(5, "0")}`,
    {
      spec: {
        id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
        serviceName: `${["weather", "files", "camel-route", "search", "calendar"][index % 5]}-${index}`,
        host: `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`,
        port: 9000 + (index % 50),
        serviceType: types[index % types.length],
        languageName: languages[index % languages.length],
        ...more,
      },
      status: {
        health,
        active: health !== "DOWN",
        reason: { DOWN: "missing in action", UNHEALTHY: "the last probe was refused" }[health] ?? "healthy",
        lastSeen: minutesAgo(health === "DOWN" ? 3 : 0.2),
        registeredAt: minutesAgo(600),
      },
    },
  );
}

export const fewServices = (): readonly KubeObject[] =>
  Array.from({ length: 9 }, (_, index) => service(index, index === 3 ? "DOWN" : index === 6 ? "UNHEALTHY" : "HEALTHY"));
