import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { reflectionMethods } from "../../src/controllers/class-runtime/wire/reflection.ts";
import { wireMethods } from "../../src/controllers/class-runtime/wire/service.ts";
import { systemEnv } from "../../src/env/system.ts";
import { type GrpcMethod, listenGrpc } from "../../src/http/grpc-server.ts";
import { namespace, startClassWorld } from "./class-runtime-world.ts";

/** gRPC's C core, which Python, Ruby, PHP and C++ programs use, with code that protoc makes from our .proto files. */
const folder = join(homedir(), ".cache", "capstan-grpc-python");
const python = join(folder, "bin/python");
const missing = install();

function install(): string | false {
  if (existsSync(join(folder, "installed-with-reflection"))) return false;
  try {
    const run = (command: string, ...args: string[]): unknown =>
      execFileSync(command, args, { timeout: 240_000, stdio: "ignore" });
    run("python3", "-m", "venv", folder);
    run(python, "-m", "pip", "install", "--quiet", "grpcio", "grpcio-tools", "grpcio-reflection");
    run("touch", join(folder, "installed-with-reflection"));
    return false;
  } catch {
    return "grpcio is not on this machine and cannot be installed";
  }
}

interface Result {
  readonly code: string;
  readonly details?: string;
  readonly answer?: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

test("the descriptors are what protoc makes of the .proto files", { skip: missing }, () => {
  const wire = join(import.meta.dirname, "../../src/controllers/class-runtime/wire");
  const made = execFileSync(python, [join(wire, "generate-descriptors.py")], { encoding: "utf8" });
  assert.equal(readFileSync(join(wire, "descriptors.ts"), "utf8"), made);
});

test("a Python program speaks with the services through our .proto files", {
  skip: missing,
  timeout: 180_000,
}, async (context) => {
  const protos = join(import.meta.dirname, "../../src/controllers/class-runtime/wire/proto");
  const generated = mkdtempSync(join(tmpdir(), "capstan-grpc-"));
  context.after(() => rmSync(generated, { recursive: true, force: true }));
  const files = readdirSync(protos).map((file) => join(protos, file));
  const out = [`--python_out=${generated}`, `--grpc_python_out=${generated}`];
  execFileSync(python, ["-m", "grpc_tools.protoc", `-I${protos}`, ...out, ...files]);

  const { client } = await startClassWorld(context);
  const never: GrpcMethod = async function* ({ signal }) {
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    yield new Uint8Array();
  };
  const methods = new Map([
    ...wireMethods({ env: systemEnv, client, namespace, environment: "edge-1", version: "1.2.3", availability: 0.5 }),
    ...reflectionMethods,
    ["/test.Slow/Never", never] as const,
  ]);
  const server = await listenGrpc({ env: systemEnv, port: 0, methods });
  context.after(() => server.close());
  const program = join(import.meta.dirname, "grpc-client.py");
  const { stdout } = await promisify(execFile)(python, [program, generated, `127.0.0.1:${server.port}`], {
    timeout: 150_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  const found = JSON.parse(stdout) as Readonly<Record<string, Result>>;

  const expected: readonly (readonly [call: string, code: string, details?: RegExp])[] = [
    ["deploy", "OK"],
    ["again", "OK"],
    ["namesake", "ALREADY_EXISTS", /belongs to the deployment "Py_1"/],
    ["no unit", "INVALID_ARGUMENT", /deployment id ""/],
    ["status", "OK"],
    ["list", "OK"],
    ["nobody", "NOT_FOUND", /not found/],
    ["Gzip", "OK"],
    ["Deflate", "OK"],
    ["too long for an object", "RESOURCE_EXHAUSTED", /Request entity too large/],
    ["too long", "RESOURCE_EXHAUSTED", /at most 4194304 bytes/],
    ["far too long", "RESOURCE_EXHAUSTED", /at most 4194304 bytes/],
    ["unknown method", "UNIMPLEMENTED", /no method/],
    ["check", "OK"],
    ["environment", "OK"],
    ["topology", "OK"],
    ["late", "DEADLINE_EXCEEDED"],
    ["delete", "OK"],
  ];
  for (const [call, code, details] of expected) {
    assert.equal(found[call]?.code, code, `${call}: ${found[call]?.details}`);
    if (details) assert.match(found[call]?.details ?? "", details);
  }
  assert.equal(found["deploy"]?.headers["x-correlation-id"], "abc");
  assert.equal(found["no unit"]?.headers["x-correlation-id"], "xyz", "with an error too");
  assert.deepEqual(found["deploy"]?.answer, { deployment_id: "Py_1", message: "accepted" });
  assert.deepEqual(found["check"]?.answer, { status: "SERVING" });
  assert.equal(found["watch"], "SERVING");
  assert.equal(found["at once"], 500);
  assert.deepEqual(found["reflected"], {
    services: [
      "grpc.health.v1.Health",
      "oaas.deployment.DeploymentService",
      "oaas.health.CrmInfoService",
      "oaas.health.HealthService",
      "oaas.topology.TopologyService",
    ],
    fields: ["deployment_unit"],
  });
  const { status, availability, node_count } = found["environment"]?.answer ?? {};
  assert.deepEqual([status, availability, node_count], ["Healthy", 0.5, 1]);
  const unit = found["status"]?.answer?.["deployment"] as { readonly functions: readonly unknown[] };
  assert.equal(unit.functions.length, 1);
  assert.equal((await client.list(ClassRuntime)).items.filter(({ metadata }) => metadata.name === "big").length, 0);
});
