import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { GrpcMethod } from "../../../http/grpc-server.ts";
import { grpcStatus } from "../../../http/grpc-status.ts";
import { descriptors } from "./descriptors.ts";
import { decode, encode, type Message, type Value } from "./protobuf.ts";
import { Request, Response, reflectionMethods } from "./reflection.ts";

async function ask(...requests: readonly Uint8Array[]): Promise<readonly Value[]> {
  const method: GrpcMethod =
    reflectionMethods.get("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo") ?? assert.fail();
  const messages = (async function* () {
    yield* requests;
  })();
  const call = { messages, metadata: {}, signal: new AbortController().signal, setHeader: () => undefined };
  const answers: Value[] = [];
  for await (const bytes of method(call)) answers.push(decode(Response, bytes));
  return answers;
}
const asking = (request: Value): Uint8Array => encode(Request, request);

test("tools are told the services", async () => {
  const [answer] = await ask(asking({ list_services: "" }));
  assert.deepEqual(answer?.["list_services_response"], {
    service: [
      "grpc.health.v1.Health",
      "oaas.deployment.DeploymentService",
      "oaas.health.CrmInfoService",
      "oaas.health.HealthService",
      "oaas.topology.TopologyService",
    ].map((name) => ({ name })),
  });
});

const files: readonly (readonly [asked: Value, first: string, count: number])[] = [
  [{ file_containing_symbol: "oaas.deployment.DeploymentService" }, "deployment.proto", 4],
  [{ file_containing_symbol: "oaas.deployment.DeploymentService.Deploy" }, "deployment.proto", 4],
  [{ file_containing_symbol: "oaas.common.StatusCode" }, "common.proto", 1],
  [{ file_containing_symbol: "oaas.health.HealthCheckResponse.ServingStatus" }, "health.proto", 2],
  [{ file_by_filename: "topology.proto" }, "topology.proto", 2],
];
for (const [asked, first, count] of files) {
  test(`${Object.values(asked)} is in ${first}, which comes with what it needs`, async () => {
    const [answer] = await ask(asking(asked));
    const { file_descriptor_proto: found = [] } = (answer?.["file_descriptor_response"] ?? {}) as {
      readonly file_descriptor_proto?: readonly Uint8Array[];
    };
    const named = decode({ name: { number: 1, type: "string" } }, found[0] ?? new Uint8Array());
    assert.deepEqual([named["name"], found.length], [first, count]);
    assert.deepEqual(answer?.["original_request"], asked);
  });
}

test("what is not known is said so, and the conversation goes on", async () => {
  const unknown = asking({ file_containing_symbol: "oaas.Nothing" });
  const answers = await ask(unknown, asking({}), asking({ list_services: "*" }));
  assert.deepEqual(answers[0]?.["error_response"], {
    error_code: grpcStatus.notFound,
    error_message: "oaas.Nothing is not known",
  });
  assert.ok(answers[1]?.["error_response"]);
  assert.ok(answers[2]?.["list_services_response"]);
  await assert.rejects(ask(Uint8Array.from([0x3a, 200])), { code: grpcStatus.invalidArgument });
});

interface Described {
  readonly name: string;
  readonly package: string;
  readonly message_type?: readonly { readonly name: string; readonly field?: readonly Field[] }[];
}
interface Field {
  readonly name: string;
  readonly number: number;
}
const described: Message = {
  name: { number: 1, type: "string" },
  package: { number: 2, type: "string" },
  message_type: {
    number: 4,
    repeated: true,
    type: {
      message: () => ({
        name: { number: 1, type: "string" },
        field: {
          number: 2,
          repeated: true,
          type: { message: () => ({ name: { number: 1, type: "string" }, number: { number: 3, type: "int32" } }) },
        },
      }),
    },
  },
};

test("the descriptors say what the .proto files say", () => {
  const directory = join(import.meta.dirname, "proto");
  const said = readdirSync(directory)
    .sort()
    .flatMap((file) => {
      const code = readFileSync(join(directory, file), "utf8").replace(/\/\/.*$/gm, "");
      const packageName = /^package ([\w.]+);/m.exec(code)?.[1];
      const flat = code.replace(/\benum \w+ \{[^}]*\}/g, "");
      return [...flat.matchAll(/\bmessage (\w+) \{([^}]*)\}/g)].flatMap(([, message, body = ""]) =>
        [...body.matchAll(/ (\w+) = (\d+);/g)].map(
          ([, field, number]) => `${file} ${packageName}.${message}.${field} ${number}`,
        ),
      );
    });
  const kept = descriptors.flatMap((text) => {
    const file = decode(described, Buffer.from(text, "base64")) as unknown as Described;
    return (file.message_type ?? []).flatMap(({ name, field = [] }) =>
      field.map((one) => `${file.name} ${file.package}.${name}.${one.name} ${one.number}`),
    );
  });
  assert.deepEqual(kept, said);
});
