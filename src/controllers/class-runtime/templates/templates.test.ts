import assert from "node:assert/strict";
import { test } from "node:test";
import { dns1035LabelErrors } from "../../../kube/names.ts";
import { classFunction, classRuntime, telemetry } from "../example-class.ts";
import { type ClassRuntimeSettings, defaultSettings } from "../settings.ts";
import { builtinTemplates } from "./catalogue.ts";
import { selectTemplate } from "./select.ts";
import type { Platform, RenderInput, Template, WantedChild } from "./template.ts";

const bare: Platform = { knative: false, serviceMonitors: false };
const withKnative: Platform = { knative: true, serviceMonitors: false };

const input = (classRuntimeOf: RenderInput["classRuntime"], changes: Partial<RenderInput> = {}): RenderInput => ({
  classRuntime: classRuntimeOf,
  settings: defaultSettings,
  platform: bare,
  routers: [],
  ...changes,
});

function render(id: string, given: RenderInput): readonly WantedChild[] {
  const template = builtinTemplates.find((candidate) => candidate.id === id);
  const rendered = template?.render(given);
  assert.ok(rendered?.ok, JSON.stringify(rendered));
  return rendered.children;
}

const names = (children: readonly WantedChild[]): readonly string[] =>
  children.map(({ kind, name }) => `${kind}/${name}`);
function specOf(child: WantedChild | undefined): Record<string, never> {
  assert.ok(child);
  return (child.object as unknown as { spec: Record<string, never> }).spec;
}

const metadata = (name: string, app = name, annotations?: Record<string, string>) => ({
  name,
  namespace: "shop",
  labels: { app, "oaas.io/owner": "cart", "oaas.io/class": "shop.Cart", "capstan.dev/controller": "class-runtime" },
  ...(annotations && { annotations }),
  ownerReferences: [
    { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name: "cart", uid: "uid-cart", controller: true },
  ],
});

test("one function becomes a Deployment and a Service with the class's name", () => {
  const children = render(
    "dev",
    input(
      classRuntime("cart", {
        package_class_key: "shop.Cart",
        functions: [
          classFunction(
            "shop.Cart.add",
            { port: 9000, cpu_request: "0.5", memory_limit: "1024Mi", min_scale: 2, need_http2: true },
            { config: { ZED: "1", ODGM_ENABLED: "mine", EMPTY: "" } },
          ),
        ],
      }),
    ),
  );
  const labels = { app: "cart", "oaas.io/owner": "cart" };
  assert.deepEqual(
    children.map(({ object }) => object),
    [
      {
        metadata: metadata("cart"),
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels, annotations: { "oaas.io/http2": "true" } },
            spec: {
              containers: [
                {
                  name: "function",
                  image: "example/echo:1",
                  ports: [{ containerPort: 9000, protocol: "TCP" }],
                  env: [{ name: "EMPTY" }, { name: "ODGM_ENABLED", value: "mine" }, { name: "ZED", value: "1" }],
                  resources: { requests: { cpu: "500m" }, limits: { memory: "1Gi" } },
                },
              ],
            },
          },
        },
      },
      {
        metadata: metadata("cart", "cart", {
          "prometheus.io/scrape": "true",
          "prometheus.io/port": "9000",
          "prometheus.io/path": "/metrics",
        }),
        spec: { selector: labels, ports: [{ name: "http", port: 80, protocol: "TCP", targetPort: 9000 }] },
      },
    ],
  );
});

test("the data store gets its environment contract", () => {
  const children = render(
    "edge",
    input(
      classRuntime("cart", {
        package_class_key: "shop.Cart",
        addons: ["odgm"],
        functions: [
          classFunction("shop.Cart.add"),
          {
            function_key: "shop.Cart.sum",
            provision_config: { wasm_module_url: "oci://sum", max_concurrency: 0, need_http2: false },
          },
        ],
        odgm_config: {
          collections: ["carts"],
          partition_count: 2,
          replica_count: 1,
          shard_type: "mst",
          log: "debug",
          node_id: 7,
          env_node_ids: { a: [9, 7], b: [7, 8] },
          invocations: { fn_routes: { buy: { url: "", function_key: "shop.Cart.add", stateless: false } } },
          collection_assignments: { carts: [{ primary: 1, replica: [1], shard_ids: [1] }] },
        },
        telemetry,
      }),
      {
        routers: [{ service: "router", port: 17447 }],
        settings: { ...defaultSettings, telemetry: { enabled: true, endpoint: "http://otel:4317" } },
      },
    ),
  );
  assert.deepEqual(names(children), [
    "Deployment/cart-fn-0",
    "Service/cart-fn-0",
    "OdgmDeployment/cart-odgm",
    "OdgmService/cart-odgm-svc",
  ]);
  const environment = (index: number): Record<string, string> => {
    const { template } = specOf(children[index]) as unknown as {
      template: { spec: { containers: { env: { name: string; value: string }[] }[] } };
    };
    return Object.fromEntries((template.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
  };
  const shared = {
    OPRC_ZENOH_PEERS: "tcp/router:17447",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://otel:4317",
    OTEL_LOGS_ENABLED: "false",
    OTEL_METRICS_ENABLED: "true",
    OTEL_SERVICE_NAME: "cart",
    OTEL_TRACES_ENABLED: "true",
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.1",
  };
  assert.deepEqual(environment(0), {
    ...shared,
    ODGM_ENABLED: "true",
    ODGM_SERVICE: "cart-odgm-svc:8080",
    OPRC_ZENOH_MODE: "client",
  });
  const { ODGM_COLLECTION: collections = "", ...rest } = environment(2);
  assert.deepEqual(rest, {
    ...shared,
    ODGM_CLUSTER_ID: "cart",
    ODGM_LOG: "debug",
    ODGM_MEMBERS: "7,8,9",
    ODGM_NODE_ID: "7",
    OPRC_CLS_ID: "shop.Cart",
    OPRC_DEPLOYMENT_ID: "cart",
    OPRC_ZENOH_MODE: "peer",
    OPRC_ZENOH_PORT: "17447",
  });
  const url = "http://cart-fn-0.shop.svc.cluster.local/";
  const route = { stateless: true, standby: false, active_group: [] };
  assert.deepEqual(JSON.parse(collections), [
    {
      name: "carts",
      partition_count: 2,
      replica_count: 1,
      // One assignment for two partitions contradicts itself, so the store decides.
      shard_assignments: [],
      shard_type: "mst",
      options: {},
      invocations: {
        fn_routes: {
          add: { url, ...route },
          buy: { url, ...route, stateless: false },
          sum: { url: "wasm://shop.Cart.sum", ...route, wasm_module_url: "oci://sum" },
        },
        disabled_fn: [],
      },
    },
  ]);
  assert.deepEqual(specOf(children[3]), {
    selector: { app: "cart-odgm", "oaas.io/owner": "cart" },
    ports: [
      { name: "http", port: 80, protocol: "TCP", targetPort: 8080 },
      { name: "odgm", port: 8080, protocol: "TCP", targetPort: 8080 },
      { name: "zenoh", port: 17447, protocol: "TCP", targetPort: 17447 },
    ],
  });
});

test("a function on Knative is a Knative Service", () => {
  const [child] = render(
    "knative",
    input(
      classRuntime("cart", {
        package_class_key: "shop.Cart",
        functions: [
          classFunction("shop.Cart.add", { min_scale: 1, max_scale: 5, max_concurrency: 8, need_http2: true }),
        ],
      }),
    ),
  );
  const { labels, ...rest } = metadata("cart", "cart", {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "8080",
    "prometheus.io/path": "/metrics",
  });
  assert.deepEqual(child?.object, {
    metadata: { ...rest, labels: { ...labels, "networking.knative.dev/visibility": "cluster-local" } },
    spec: {
      template: {
        metadata: {
          labels: { app: "cart", "oaas.io/owner": "cart" },
          annotations: {
            "autoscaling.knative.dev/minScale": "1",
            "autoscaling.knative.dev/maxScale": "5",
            "networking.knative.dev/http2": "true",
          },
        },
        spec: {
          containerConcurrency: 8,
          containers: [
            { name: "function", image: "example/echo:1", ports: [{ containerPort: 8080, name: "h2c" }], env: [] },
          ],
        },
      },
    },
  });
});

test("replicas are left to the enforcer or the autoscaler", () => {
  const enforced = classRuntime("cart", {
    functions: [classFunction("a", { min_scale: 3 })],
    enforcement: { mode: "Enforce", dimensions: ["replicas"] },
  });
  const [deployment] = render("dev", input(enforced));
  assert.equal("replicas" in specOf(deployment), false);
  assert.deepEqual(deployment?.initial, { replicas: 3 });

  const hpa: ClassRuntimeSettings = { ...defaultSettings, features: { ...defaultSettings.features, hpa: true } };
  const scaled = render(
    "dev",
    input(classRuntime("cart", { functions: [classFunction("a", { min_scale: 3 })] }), { settings: hpa }),
  );
  assert.deepEqual(names(scaled), ["Deployment/cart", "Service/cart", "Hpa/cart"]);
  assert.equal("replicas" in specOf(scaled[0]), false);
  assert.deepEqual(specOf(scaled[2]), {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "cart" },
    minReplicas: 3,
    maxReplicas: 20,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }],
  });
  const both = render("dev", input(enforced, { settings: hpa }));
  assert.equal("minReplicas" in specOf(both[2]), false);
});

test("metrics are found by a ServiceMonitor where its API is served, by annotations elsewhere", () => {
  const children = render("dev", input(classRuntime("cart"), { platform: { knative: false, serviceMonitors: true } }));
  assert.deepEqual(names(children), ["Deployment/cart", "Service/cart", "ServiceMonitor/cart"]);
  assert.equal(children[1]?.object.metadata.annotations, undefined);
  assert.deepEqual(specOf(children[2])["selector"], { matchLabels: { app: "cart", "oaas.io/owner": "cart" } });
  const picked = render(
    "dev",
    input(classRuntime("cart"), {
      platform: { knative: false, serviceMonitors: true },
      settings: { ...defaultSettings, monitorLabels: { release: "stack", app: "not ours to change" } },
    }),
  );
  const { labels } = picked[2]?.object.metadata ?? {};
  assert.deepEqual([labels?.["release"], labels?.["app"]], ["stack", "cart"]);
});

test("what cannot be deployed is refused with its field", () => {
  const cases: readonly (readonly [string, RenderInput["classRuntime"], RegExp])[] = [
    [
      "no image",
      classRuntime("cart", { functions: [{ function_key: "a" }] }),
      /function image must be provided in ClassRuntime spec: spec\.functions\[0\]\.provision_config\.container_image of a/,
    ],
    [
      "a quantity that is none",
      classRuntime("cart", { functions: [classFunction("a"), classFunction("b", { cpu_limit: "much" })] }),
      /spec\.functions\[1\]\.provision_config\.cpu_limit: "much" is not a quantity/,
    ],
  ];
  for (const [name, given, says] of cases) {
    for (const template of builtinTemplates) {
      const rendered = template.render(input(given));
      assert.ok(!rendered.ok, name);
      assert.match(rendered.message, says);
    }
  }
});

test("images may stand beside the key, as upstream's README has it", () => {
  const children = render(
    "dev",
    input(classRuntime("cart", { functions: [{ function_key: "a", container_image: "x", replicas: 4 }] })),
  );
  assert.equal(specOf(children[0])["replicas"], 4);
});

test("every name fits DNS, whatever the class is called and however many functions it has", () => {
  for (const className of ["cart", "9lives", "Shop.Cart", "a".repeat(253), `${"b".repeat(60)}.c`]) {
    for (const total of [1, 2, 300]) {
      const given = classRuntime(className, {
        addons: ["odgm"],
        functions: Array.from({ length: total }, (_, index) => classFunction(`f${index}`)),
      });
      const children = render("dev", input(given));
      assert.equal(children.length, 2 * total + 2);
      assert.equal(new Set(names(children)).size, children.length);
      for (const { name, object } of children) {
        assert.deepEqual(dns1035LabelErrors(name), []);
        assert.ok((object.metadata.labels?.["oaas.io/owner"]?.length ?? 99) <= 63);
      }
    }
  }
});

test("templates are chosen by name, then alias, then score", () => {
  const choose = (
    spec: Parameters<typeof classRuntime>[1],
    settings: Partial<ClassRuntimeSettings>,
    platform = bare,
  ) => {
    const selection = selectTemplate(
      classRuntime("cart", spec),
      { ...defaultSettings, ...settings },
      platform,
      builtinTemplates,
    );
    return selection && [selection.template.id, ...(selection.warning ? [selection.warning] : [])];
  };
  assert.deepEqual(choose({ selected_template: "edge" }, {}), ["edge"]);
  assert.deepEqual(choose({ selected_template: "k8s" }, {}), ["k8s_deployment"]);
  assert.deepEqual(choose({ selected_template: "kn" }, {}, withKnative), ["knative"]);
  assert.deepEqual(choose({}, { profile: "dev" }, withKnative), ["dev"]);
  assert.deepEqual(choose({}, { profile: "edge" }, withKnative), ["edge"]);
  assert.deepEqual(choose({}, { profile: "production" }, withKnative), ["knative"]);
  assert.deepEqual(choose({}, { profile: "production" }), ["edge"]);
  assert.deepEqual(choose({}, { profile: "production", isDatacenter: true }), ["k8s_deployment"]);
  assert.deepEqual(choose({ nfr_requirements: { max_latency_ms: 20, consistency: "strong" } }, { profile: "full" }), [
    "k8s_deployment",
  ]);
  assert.deepEqual(choose({ selected_template: "knative" }, { profile: "edge" }), [
    "edge",
    'template "knative" cannot be used here because its API is not served; edge is used instead',
  ]);
  assert.match(
    choose({ selected_template: "nope" }, {})?.[1] ?? "",
    /template "nope" is not known \(dev, edge, k8s_deployment, knative\)/,
  );
});

test("a new template is one object: it is chosen by name and by score like the built-in ones", async () => {
  const { batch } = await import("./example-template.ts");
  const templates: readonly Template[] = [...builtinTemplates, batch];
  const given = classRuntime("cart", { selected_template: "nightly" });
  const selection = selectTemplate(given, defaultSettings, bare, templates);
  assert.equal(selection?.template.id, "batch");
  const rendered = selection?.template.render(input(given));
  assert.deepEqual(rendered?.ok && names(rendered.children), ["Deployment/cart-batch"]);
  assert.equal(
    selectTemplate(classRuntime("cart"), { ...defaultSettings, profile: "batch" }, bare, templates)?.template.id,
    "batch",
  );
});

test("a module without a data store is refused, by name", () => {
  const only = classRuntime("cart", {
    functions: [
      {
        function_key: "shop.Cart.sum",
        provision_config: { wasm_module_url: "oci://sum", max_concurrency: 0, need_http2: false },
      },
    ],
  });
  for (const template of builtinTemplates) {
    const refused = template.render(input(only, { platform: withKnative }));
    assert.deepEqual(
      refused,
      {
        ok: false,
        message:
          "spec.functions[0].provision_config.wasm_module_url of shop.Cart.sum: a module runs inside the data store, and this class has none; odgm must be among spec.addons",
      },
      template.id,
    );
    assert.ok(
      template.render(input({ ...only, spec: { ...only.spec, addons: ["odgm"] } }, { platform: withKnative })).ok,
    );
  }
});
