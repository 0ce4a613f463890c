import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { test } from "node:test";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import * as messages from "../../src/controllers/class-runtime/wire/messages.ts";
import { decode, encode, type Message, type Value } from "../../src/controllers/class-runtime/wire/protobuf.ts";
import { wireMethods } from "../../src/controllers/class-runtime/wire/service.ts";
import { systemEnv } from "../../src/env/system.ts";
import { type GrpcMethod, listenGrpc } from "../../src/http/grpc-server.ts";
import { grpcStatus } from "../../src/http/grpc-status.ts";
import { eventually, namespace, startClassWorld } from "./class-runtime-world.ts";

interface Reply {
  readonly code: number;
  readonly message: string;
  readonly bodies: readonly Buffer[];
  readonly headers: IncomingHttpHeaders;
}

/** A gRPC client from the protocol's description: HTTP/2 in the clear, five bytes in front of each message. */
function call(port: number, path: string, body: Uint8Array, headers: Record<string, string> = {}): Promise<Reply> {
  const session = connect(`http://127.0.0.1:${port}`);
  return new Promise<Reply>((resolve, reject) => {
    session.once("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    const chunks: Buffer[] = [];
    let begun: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    // A call that ends at once has its trailers in its headers.
    stream.on("response", (found) => {
      begun = found;
      trailers = found;
    });
    stream.on("trailers", (found) => {
      trailers = found;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("end", () => {
      const all = Buffer.concat(chunks);
      const bodies: Buffer[] = [];
      for (let at = 0; at < all.length; at += 5 + all.readUInt32BE(at + 1))
        bodies.push(all.subarray(at + 5, at + 5 + all.readUInt32BE(at + 1)));
      resolve({
        code: Number(trailers["grpc-status"]),
        message: decodeURIComponent(String(trailers["grpc-message"] ?? "")),
        bodies,
        headers: begun,
      });
    });
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(body.length, 1);
    stream.end(Buffer.concat([prefix, body]));
  }).finally(() => session.close());
}

test("the services of OaaS over a socket", { timeout: 180_000 }, async (context) => {
  const { client } = await startClassWorld(context);
  const never: GrpcMethod = async function* ({ signal }) {
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    yield new Uint8Array();
  };
  const methods = new Map([
    ...wireMethods({ env: systemEnv, client, namespace, environment: "edge-1", version: "1.2.3" }),
    ["/test.Slow/Never", never] as const,
  ]);
  const server = await listenGrpc({ env: systemEnv, port: 0, methods });
  context.after(() => server.close());
  const ask = async (
    method: string,
    request: Message,
    response: Message,
    value: Value,
    headers?: Record<string, string>,
  ) => {
    const reply = await call(server.port, `/${method}`, encode(request, value), headers);
    const [body] = reply.bodies;
    return { ...reply, value: body ? decode(response, body) : undefined };
  };
  const deployment = "oaas.deployment.DeploymentService";
  const deploy = (unit: Value, headers?: Record<string, string>) =>
    ask(`${deployment}/Deploy`, messages.DeployRequest, messages.DeployResponse, { deployment_unit: unit }, headers);
  const summary = (filter: Value) =>
    ask(
      `${deployment}/ListClassRuntimes`,
      messages.ListClassRuntimesRequest,
      messages.ListClassRuntimesResponse,
      filter,
    );
  const unit = {
    id: "Cart_1",
    package_name: "shop",
    class_key: "Cart",
    target_env: "edge-1",
    functions: [
      {
        function_key: "shop.add",
        provision_config: { container_image: "example/echo:1", min_scale: 1 },
        config: { A: "1" },
      },
      { function_key: "shop.nothing" },
    ],
    function_bindings: [{ name: "add", function_key: "shop.add", stateless: true }],
  };

  await context.test("Deploy makes a class runtime, with a correlation id that comes back", async () => {
    const reply = await deploy(unit, { "x-correlation-id": "abc" });
    assert.deepEqual(
      [reply.code, reply.value],
      [grpcStatus.ok, { status: 0, deployment_id: "Cart_1", message: "accepted" }],
    );
    assert.equal(reply.headers["x-correlation-id"], "abc");
    const made = await client.get(ClassRuntime, { namespace, name: "cart-1" });
    assert.equal(made.metadata.labels?.["oaas.io/deployment-id"], "cart-1");
    assert.equal(made.metadata.annotations?.["oaas.io/correlation-id"], "abc");
    assert.equal(made.spec.package_class_key, "shop.Cart");
    assert.deepEqual(
      made.spec.functions?.map(({ function_key }) => function_key),
      ["shop.add"],
    );
    assert.deepEqual(made.spec.odgm_config?.collections, ["cart-1"]);
    assert.equal(made.spec.odgm_config?.shard_type, "mst");
    assert.equal(made.spec.odgm_config?.invocations?.fn_routes?.["add"]?.function_key, "shop.add");
  });

  await context.test("its status is told", async () => {
    const running = await eventually(
      () =>
        ask(`${deployment}/GetClassRuntime`, messages.DeploymentIdRequest, messages.GetClassRuntimeResponse, {
          deployment_id: "Cart_1",
        }),
      ({ value }) => {
        const { status } = (value?.["deployment"] ?? {}) as { status?: { condition?: number; phase?: number } };
        assert.deepEqual(
          [status?.condition, status?.phase],
          [messages.deploymentCondition.running, messages.deploymentPhase.running],
        );
      },
    );
    assert.equal(((running.value?.["deployment"] ?? {}) as Value)["target_environment"], "edge-1");
    const told = await ask(
      `${deployment}/GetDeploymentStatus`,
      messages.DeploymentIdRequest,
      messages.GetDeploymentStatusResponse,
      { deployment_id: "Cart_1" },
    );
    assert.equal(((told.value?.["deployment"] ?? {}) as Value)["id"], "Cart_1");
    assert.equal(((told.value?.["status_resource_refs"] ?? []) as Value[]).length, 4);
  });

  await context.test("deploying again is an update", async () => {
    const next = {
      ...unit,
      functions: [{ function_key: "shop.sum", provision_config: { container_image: "example/echo:2" } }],
      function_bindings: [],
    };
    assert.equal((await deploy(next)).code, grpcStatus.ok);
    const { spec } = await client.get(ClassRuntime, { namespace, name: "cart-1" });
    assert.deepEqual(
      spec.functions?.map(({ function_key, provision_config }) => [function_key, provision_config?.container_image]),
      [["shop.sum", "example/echo:2"]],
    );
  });

  await context.test("lists are filtered and paged", async () => {
    await deploy({ ...unit, id: "other", class_key: "Other", target_env: "far" });
    const ids = async (filter: Value): Promise<unknown[]> => {
      const { value } = await summary(filter);
      return ((value?.["items"] ?? []) as Value[]).map(({ id }) => id).sort();
    };
    assert.deepEqual(await ids({}), ["cart-1", "other"]);
    assert.deepEqual(await ids({ class_key: "Other" }), ["other"]);
    assert.deepEqual(await ids({ target_env: "edge-1" }), ["cart-1"]);
    assert.deepEqual(await ids({ package_name: "none" }), []);
    assert.equal((await ids({ limit: 1, offset: 1 })).length, 1);
  });

  await context.test("refusals have their codes", async () => {
    assert.equal((await deploy({ ...unit, id: "***" })).code, grpcStatus.invalidArgument);
    const missing = await ask(
      `${deployment}/GetClassRuntime`,
      messages.DeploymentIdRequest,
      messages.GetClassRuntimeResponse,
      { deployment_id: "nobody" },
    );
    assert.deepEqual([missing.code, missing.value], [grpcStatus.notFound, undefined]);
    assert.equal((await call(server.port, `/${deployment}/Nothing`, new Uint8Array())).code, grpcStatus.unimplemented);
    assert.equal(
      (await call(server.port, `/${deployment}/Deploy`, Uint8Array.from([0x0a, 200]))).code,
      grpcStatus.invalidArgument,
    );
    const late = await call(server.port, "/test.Slow/Never", new Uint8Array(), { "grpc-timeout": "100m" });
    assert.equal(late.code, grpcStatus.deadlineExceeded);
  });

  await context.test("a namespace that is not there is said so", async () => {
    const nowhere = wireMethods({ env: systemEnv, client, namespace: "nowhere", environment: "e", version: "1" });
    const lost = await listenGrpc({ env: systemEnv, port: 0, methods: nowhere });
    context.after(() => lost.close());
    const body = encode(messages.DeployRequest, { deployment_unit: unit });
    const reply = await call(lost.port, `/${deployment}/Deploy`, body);
    assert.equal(reply.code, grpcStatus.failedPrecondition);
    assert.match(reply.message, /namespaces "nowhere" not found/);
  });

  await context.test("callers who go at any moment, and strangers who talk nonsense, harm nobody", async () => {
    const session = connect(`http://127.0.0.1:${server.port}`);
    session.on("error", () => undefined);
    const body = encode(messages.ListClassRuntimesRequest, {});
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(body.length, 1);
    const headers = {
      ":method": "POST",
      ":path": `/${deployment}/ListClassRuntimes`,
      "content-type": "application/grpc",
    };
    for (let round = 0; round < 200; round++) {
      const stream = session.request({ ...headers, ...(round % 3 === 0 && { "grpc-timeout": "1m" }) });
      stream.on("error", () => undefined);
      if (round % 2 === 0) stream.end(Buffer.concat([prefix, body]));
      // Now, in a moment, or when the first byte has come.
      if (round % 5 === 0) stream.close(8);
      else if (round % 5 === 1) setTimeout(() => stream.close(8), round % 7);
      else if (round % 5 === 2) stream.once("response", () => stream.close(8));
      else if (round % 5 === 3) stream.once("data", () => stream.destroy());
      else setTimeout(() => stream.destroy(), 2);
    }
    for (const nonsense of ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense", "GET / HTTP/1.1\r\n", "\0\0", "PRI"]) {
      const socket = connectSocket(server.port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.end(nonsense);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    session.destroy();
    const check = await ask(
      "oaas.health.HealthService/Check",
      messages.HealthCheckRequest,
      messages.HealthCheckResponse,
      {},
    );
    assert.deepEqual(check.value, { status: messages.servingStatus.serving });
  });

  await context.test("health, environment and topology", async () => {
    const check = await ask(
      "oaas.health.HealthService/Check",
      messages.HealthCheckRequest,
      messages.HealthCheckResponse,
      {},
    );
    assert.deepEqual(check.value, { status: messages.servingStatus.serving });
    const session = connect(`http://127.0.0.1:${server.port}`);
    const watching = session.request({
      ":method": "POST",
      ":path": "/oaas.health.HealthService/Watch",
      "content-type": "application/grpc",
    });
    watching.on("error", () => undefined);
    watching.end(Buffer.alloc(5));
    const [first] = (await once(watching, "data")) as [Buffer];
    assert.deepEqual(decode(messages.HealthCheckResponse, first.subarray(5)), { status: 1 });
    assert.equal(watching.closed, false, "it goes on until the caller goes");
    session.destroy();
    const health = await ask(
      "oaas.health.CrmInfoService/GetEnvHealth",
      messages.CrmEnvRequest,
      messages.CrmEnvHealth,
      {},
    );
    assert.deepEqual(
      [
        health.value?.["env_name"],
        health.value?.["status"],
        health.value?.["node_count"],
        health.value?.["availability"],
        health.value?.["crm_version"],
      ],
      ["edge-1", "Healthy", 1, 1, "1.2.3"],
    );
    const { value } = await ask(
      "oaas.topology.TopologyService/GetTopology",
      messages.TopologyRequest,
      messages.TopologySnapshot,
      {},
    );
    assert.ok(
      ((value?.["nodes"] ?? []) as Value[]).some(({ id, node_type }) => id === "class/cart-1" && node_type === "class"),
    );
    const answer = await fetch(`http://127.0.0.1:${server.port}/healthz`);
    assert.equal(await answer.text(), "ok");
  });

  await context.test("DeleteDeployment deletes, once", async () => {
    const remove = () =>
      ask(`${deployment}/DeleteDeployment`, messages.DeploymentIdRequest, messages.DeleteDeploymentResponse, {
        deployment_id: "Cart_1",
      });
    assert.deepEqual((await remove()).value, { status: 0, message: "deleted" });
    await eventually(
      () => client.list(ClassRuntime, { namespace }),
      ({ items }) =>
        assert.deepEqual(
          items.map(({ metadata }) => metadata.name),
          ["other"],
        ),
    );
    assert.equal((await remove()).code, grpcStatus.notFound);
  });
});
