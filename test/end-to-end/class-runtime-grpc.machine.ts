import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { startClassRuntimeApi } from "../../src/control-plane/class-runtimes.ts";
import { defaultInstallation } from "../../src/controllers/class-runtime/installation.ts";
import { systemEnv } from "../../src/env/system.ts";
import { eventually, namespace, startClassWorld } from "./class-runtime-world.ts";

/** The gRPC library that Node programs use, with the .proto files that we hand out: it must find nothing to complain of. */
const folder = join(homedir(), ".cache", "capstan-grpc");
const missing = install();

function install(): string | false {
  if (existsSync(join(folder, "node_modules/@grpc/grpc-js"))) return false;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const packages = ["@grpc/grpc-js@1", "@grpc/proto-loader@0"];
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
      cwd: folder,
      timeout: 120_000,
      stdio: "ignore",
    });
    return false;
  } catch {
    return "@grpc/grpc-js is not on this machine and cannot be installed";
  }
}

type Answer = Readonly<Record<string, unknown>>;
interface Status {
  readonly code: number;
  readonly details: string;
}
interface Metadata {
  set(name: string, value: string): void;
  get(name: string): readonly unknown[];
}
interface Call {
  on(event: "metadata", listener: (metadata: Metadata) => void): Call;
  on(event: "data", listener: (answer: Answer) => void): Call;
  on(event: "error", listener: (status: Status) => void): Call;
  cancel(): void;
}
interface Options {
  readonly deadline?: Date | number;
}
type Unary = (
  request: Answer,
  metadata: Metadata,
  options: Options,
  done: (status: Status | null, answer: Answer) => void,
) => Call;
interface Stub {
  readonly [method: string]: Unary & ((request: Answer, metadata: Metadata, options: Options) => Call);
}
interface Grpc {
  readonly Metadata: new () => Metadata;
  readonly credentials: { createInsecure(): unknown };
  loadPackageDefinition(definition: unknown): {
    readonly oaas: Readonly<
      Record<string, Readonly<Record<string, new (address: string, credentials: unknown, options?: Answer) => Stub>>>
    >;
  };
}

test("@grpc/grpc-js speaks with the services through our .proto files", {
  skip: missing,
  timeout: 120_000,
}, async (context) => {
  const load = createRequire(join(folder, "package.json"));
  const grpc = load("@grpc/grpc-js") as Grpc;
  const loader = load("@grpc/proto-loader") as { loadSync(files: readonly string[], options: Answer): unknown };
  const includeDirs = [join(import.meta.dirname, "../../src/controllers/class-runtime/wire/proto")];
  const definition = loader.loadSync(["deployment.proto", "health.proto", "topology.proto"], {
    includeDirs,
    keepCase: true,
    enums: String,
    longs: String,
    defaults: false,
  });
  const { oaas } = grpc.loadPackageDefinition(definition);

  const { client } = await startClassWorld(context);
  const installation = { ...defaultInstallation, wire: { namespace, environment: "edge-1" } };
  const api = await startClassRuntimeApi({
    env: systemEnv,
    client,
    installation,
    version: "1.2.3",
    port: { port: 0, isChosen: true },
  });
  context.after(() => api.stop());

  const stub = (packageName: string, service: string, options: Answer = {}): Stub => {
    const Service = oaas[packageName]?.[service];
    assert.ok(Service, `${packageName}.${service}`);
    const made = new Service(api.address, grpc.credentials.createInsecure(), options);
    context.after(() => (made as unknown as { close(): void }).close());
    return made;
  };
  const deployments = stub("deployment", "DeploymentService");
  const ask = (from: Stub, method: string, request: Answer, options: Options = {}, correlation?: string) =>
    new Promise<{ readonly status: Status | null; readonly answer: Answer; readonly metadata?: Metadata }>(
      (resolve) => {
        const metadata = new grpc.Metadata();
        if (correlation !== undefined) metadata.set("x-correlation-id", correlation);
        let received: Metadata | undefined;
        from[method]?.(request, metadata, options, (status, answer) =>
          resolve({ status, answer, ...(received && { metadata: received }) }),
        ).on("metadata", (found) => {
          received = found;
        });
      },
    );

  const unit = {
    id: "Cart_1",
    package_name: "shop",
    class_key: "Cart",
    target_env: "edge-1",
    functions: [
      {
        function_key: "shop.add",
        provision_config: { container_image: "example/echo:1", min_scale: 1, port: 8080 },
        nfr_requirements: { min_throughput_rps: 20, availability: 0.99 },
        config: { A: "1" },
      },
    ],
    function_bindings: [{ name: "add", function_key: "shop.add", stateless: true, parameters: ["x"] }],
    odgm_config: {
      collections: ["carts"],
      partition_count: 2,
      replica_count: 1,
      options: { k: "v" },
      env_node_ids: { "edge-1": { ids: [1, 2] } },
      collection_assignments: {
        carts: {
          assignments: [
            { primary: 1, replica: [1], shard_ids: [1] },
            { primary: 2, replica: [2], shard_ids: [2] },
          ],
        },
      },
    },
    telemetry: { enabled: true, sampling_rate: 0.25, resource_attributes: { team: "shop" } },
  };

  const deployed = await ask(deployments, "Deploy", { deployment_unit: unit }, {}, "abc");
  assert.equal(deployed.status, null, deployed.status?.details);
  assert.deepEqual(deployed.answer, { status: "OK", deployment_id: "Cart_1", message: "accepted" });
  assert.deepEqual(deployed.metadata?.get("x-correlation-id"), ["abc"]);

  const running = await eventually(
    () => ask(deployments, "GetClassRuntime", { deployment_id: "Cart_1" }),
    ({ answer }) => {
      const { status } = answer["deployment"] as { status: Answer };
      assert.deepEqual([status["condition"], status["phase"]], ["RUNNING", "PHASE_RUNNING"]);
    },
  );
  const summary = running.answer["deployment"] as { status: { functions: Answer[] }; partition_count: number };
  assert.equal(summary.partition_count, 2);
  assert.deepEqual(
    summary.status.functions.map(({ function_key, template, ready, predicted_url }) => [
      function_key,
      template,
      ready,
      predicted_url,
    ]),
    [["shop.add", "dev", true, `http://cart-1.${namespace}.svc.cluster.local/`]],
  );

  const told = await ask(deployments, "GetDeploymentStatus", { deployment_id: "Cart_1" });
  const back = told.answer["deployment"] as typeof unit;
  assert.deepEqual(back.odgm_config.collections, ["carts"]);
  assert.deepEqual(back.odgm_config.env_node_ids, { "edge-1": { ids: ["1", "2"] } });
  assert.equal(back.odgm_config.collection_assignments.carts.assignments.length, 2);
  assert.equal(back.telemetry.sampling_rate, 0.25);
  assert.equal(back.functions[0]?.nfr_requirements.availability, 0.99);

  const again = { ...unit, functions: [{ function_key: "shop.sum", provision_config: { container_image: "i:2" } }] };
  assert.equal((await ask(deployments, "Deploy", { deployment_unit: again })).status, null);
  const { spec } = await client.get(ClassRuntime, { namespace, name: "cart-1" });
  assert.deepEqual(
    spec.functions?.map(({ function_key }) => function_key),
    ["shop.sum"],
  );

  const code = async (method: string, request: Answer, options?: Options): Promise<number | undefined> =>
    (await ask(deployments, method, request, options)).status?.code;
  assert.equal(await code("Deploy", { deployment_unit: { id: "***" } }), 3, "INVALID_ARGUMENT");
  assert.equal(await code("Deploy", { deployment_unit: { ...unit, id: "cart.1" } }), 6, "ALREADY_EXISTS");
  assert.equal(await code("GetClassRuntime", { deployment_id: "nobody" }), 5, "NOT_FOUND");
  assert.equal(await code("GetClassRuntime", { deployment_id: "Cart_1" }, { deadline: 1 }), 4, "DEADLINE_EXCEEDED");

  const many = await Promise.all(
    Array.from({ length: 100 }, () => ask(deployments, "ListClassRuntimes", { class_key: "Cart", limit: 5 })),
  );
  for (const { status, answer } of many) {
    assert.equal(status, null);
    assert.deepEqual(
      (answer["items"] as Answer[]).map(({ deployment_unit_id }) => deployment_unit_id),
      ["Cart_1"],
    );
  }

  const health = stub("health", "HealthService");
  assert.deepEqual((await ask(health, "Check", {})).answer, { status: "SERVING" });
  const watched = await new Promise<readonly unknown[]>((resolve) => {
    const call = health["Watch"]?.({}, new grpc.Metadata(), {});
    let first: unknown;
    call
      ?.on("data", (answer) => {
        first = answer["status"];
        call.cancel();
      })
      .on("error", (status) => resolve([first, status.code]));
  });
  assert.deepEqual(watched, ["SERVING", 1], "one word, then cancelled by us");
  const environment = await ask(stub("health", "CrmInfoService"), "GetEnvHealth", {});
  assert.deepEqual([environment.answer["env_name"], environment.answer["availability"]], ["edge-1", 1]);
  const topology = await ask(stub("topology", "TopologyService"), "GetTopology", {});
  assert.ok((topology.answer["nodes"] as Answer[]).some(({ id }) => id === "class/cart-1"));

  const removed = await ask(deployments, "DeleteDeployment", { deployment_id: "Cart_1" });
  assert.deepEqual(removed.answer, { status: "OK", message: "deleted" });
  await eventually(
    () => ask(deployments, "GetClassRuntime", { deployment_id: "Cart_1" }),
    ({ status }) => assert.equal(status?.code, 5),
  );
});
