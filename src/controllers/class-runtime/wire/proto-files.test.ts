import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "../../../client/create-client.ts";
import { systemEnv } from "../../../env/system.ts";
import * as messages from "./messages.ts";
import type { FieldType, Message } from "./protobuf.ts";
import { wireMethods } from "./service.ts";

/** The .proto files are what we hand to others; the tables are what we speak. They must say the same. */
const directory = join(import.meta.dirname, "proto");
const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));

interface Declared {
  readonly fields: Map<string, string>;
  readonly numbers: Set<string>;
}

/** `package.Message` to `name = number type`, `package.Service/Method` to its messages. */
function readDeclarations(): { readonly messages: Map<string, Declared>; readonly methods: Map<string, string[]> } {
  const found = new Map<string, Declared>();
  const methods = new Map<string, string[]>();
  const enums = new Set<string>();
  for (const text of files) for (const [, name = ""] of text.matchAll(/\benum (\w+)/g)) enums.add(name);
  for (const text of files) {
    const packageName = /^package ([\w.]+);/m.exec(text)?.[1] ?? "";
    const code = text.replace(/\/\/.*$/gm, "").replace(/\benum \w+ \{[^}]*\}/g, "");
    for (const [, service, body = ""] of code.matchAll(/\bservice (\w+) \{([^}]*)\}/g))
      for (const [, method, request = "", stream = "", answer = ""] of body.matchAll(
        /rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\)/g,
      ))
        methods.set(`/${packageName}.${service}/${method}`, [request, stream, answer]);
    for (const [, name, body = ""] of code.matchAll(/\bmessage (\w+) \{([^}]*)\}/g)) {
      const fields = new Map<string, string>();
      const numbers = new Set<string>();
      for (const [, label = "", type = "", field = "", number = ""] of body.matchAll(
        /(?:(repeated|optional) )?(map<string, [\w.]+>|[\w.]+) (\w+) = (\d+);/g,
      )) {
        const short = type.replace(/[\w.]*\.(\w+)/, "$1");
        const kind = enums.has(short) ? "enum" : short;
        fields.set(field, `${number} ${label === "repeated" ? "repeated " : ""}${kind}`);
        numbers.add(number);
      }
      found.set(`${packageName}.${name}`, { fields, numbers });
    }
  }
  return { messages: found, methods };
}

const declared = readDeclarations();
const byShortName = new Map([...declared.messages].map(([name, entry]) => [name.split(".").at(-1) ?? "", entry]));

function assertSame(name: string, message: Message, seen: Set<string>): void {
  if (seen.has(name)) return;
  seen.add(name);
  const entry = byShortName.get(name);
  assert.ok(entry, `${name} is in no .proto file`);
  assert.equal(entry.numbers.size, entry.fields.size, `${name} uses a number twice`);
  assert.deepEqual([...Object.keys(message)].sort(), [...entry.fields.keys()].sort(), name);
  for (const [field, { number, type, repeated }] of Object.entries(message)) {
    const said: string = entry.fields.get(field) ?? "";
    const kind = said.split(" ").at(-1)?.replace(/>$/, "") ?? "";
    const inner = nested(type);
    const spoken = typeof type === "object" ? ("map" in type ? `map<string, ${shown(type.map, kind)}>` : kind) : type;
    assert.equal(`${number} ${repeated ? "repeated " : ""}${spoken}`, said, `${name}.${field}`);
    if (inner) assertSame(kind, inner(), seen);
  }
}

const shown = (type: FieldType, kind: string): string => (typeof type === "object" ? kind : type);

function nested(type: FieldType): (() => Message) | undefined {
  if (typeof type !== "object") return undefined;
  return "map" in type ? nested(type.map) : type.message;
}

/** Requests that only carry an id share one table. */
const tables: Readonly<Record<string, Message>> = {
  ...(Object.fromEntries(
    Object.entries(messages).filter(([name]) => /^[A-Z]/.test(name) && name !== "DeploymentIdRequest"),
  ) as Record<string, Message>),
  GetDeploymentStatusRequest: messages.DeploymentIdRequest,
  DeleteDeploymentRequest: messages.DeploymentIdRequest,
  GetClassRuntimeRequest: messages.DeploymentIdRequest,
};

test("every message has the fields, numbers and types of its .proto file, and none is missing", () => {
  const seen = new Set<string>();
  for (const [name, message] of Object.entries(tables)) assertSame(name, message, seen);
  assert.deepEqual([...seen].sort(), [...byShortName.keys()].sort());
});

test("every service of the .proto files is served, and no other", () => {
  const client = createClient({ env: systemEnv, transport: () => Promise.reject(new Error("not asked")) });
  const served = wireMethods({ env: systemEnv, client, namespace: "n", environment: "e", version: "1" });
  assert.deepEqual([...served.keys()].sort(), [...declared.methods.keys()].sort());
});

const enumerations: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
  ["StatusCode", messages.statusCode],
  ["DeploymentCondition", messages.deploymentCondition],
  ["DeploymentPhase", messages.deploymentPhase],
  ["ServingStatus", messages.servingStatus],
];
for (const [name, values] of enumerations) {
  test(`the numbers of ${name} are those of its .proto file`, () => {
    const body = files.map((text) => new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(text)?.[1]).find(Boolean) ?? "";
    const said = [...body.matchAll(/\w+ = (\d+);/g)].map(([, number]) => Number(number));
    assert.deepEqual(said, Object.values(values));
  });
}
