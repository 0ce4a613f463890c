/**
 * Asks a real kube-apiserver about our CustomResourceDefinitions: it must take them all, accept what must be accepted and
 * refuse what must be refused, naming the same field. Needs an etcd and kube-apiserver.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { missingRealServer, type RealServer, startRealServer } from "../scripts/cluster/api-server.ts";
import { builtinKinds } from "../src/api/builtin/kinds.ts";
import { customResourceDefinitions } from "../src/api/crds.ts";
import { acceptedCases, manifest, refusedCases } from "../src/api/manifest-cases.ts";

const startUpMs = 60_000;

interface Answer {
  readonly code: number;
  readonly body: { readonly [key: string]: unknown };
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly status?: unknown;
}

describe("a real kube-apiserver", { skip: missingRealServer }, () => {
  let server: RealServer;
  before(async () => {
    server = await startRealServer();
  });
  after(() => server.stop());

  async function ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const { status, text } = await server.call(method, path, body);
    return { code: status, body: text.startsWith("{") ? JSON.parse(text) : { message: text } };
  }

  test("takes every CustomResourceDefinition and serves its kind", async () => {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const definition of customResourceDefinitions) {
      const answer = await ask("POST", path, definition);
      assert.equal(answer.code, 201, JSON.stringify(answer.body));
    }
    for (const { metadata, spec } of customResourceDefinitions) {
      await eventually(`${metadata.name} to be served`, async () => {
        const { body } = await ask("GET", `${path}/${metadata.name}`);
        const conditions = (body["status"] as { conditions?: { type: string; status: string }[] }).conditions ?? [];
        const wrong = conditions.find(({ type, status }) => type === "NonStructuralSchema" && status === "True");
        assert.equal(wrong, undefined, JSON.stringify(wrong));
        const served = await ask("GET", `/apis/${spec.group}/${spec.versions[0]?.name}/${spec.names.plural}`);
        return served.code === 200;
      });
    }
  });

  test("accepts what must be accepted, status included, without dropping a field", async () => {
    for (const [index, { name, kind, spec, status }] of acceptedCases.entries()) {
      const object = manifest(kind, `accepted-${index}`, spec);
      const created = await ask("POST", `${pathOf(object)}?fieldValidation=Strict`, object);
      assert.equal(created.code, 201, `${name}: ${created.body["message"]}`);
      if (status === undefined) continue;
      const path = `${pathOf(object)}/accepted-${index}/status?fieldValidation=Strict`;
      const written = await ask("PUT", path, { ...created.body, status });
      assert.equal(written.code, 200, `${name}: ${written.body["message"]}`);
    }
  });

  test("refuses what must be refused and names the field", async () => {
    for (const [index, { name, kind, spec, before, field, says }] of refusedCases.entries()) {
      const object = manifest(kind, `refused-${index}`, before ?? spec);
      const first = await ask("POST", pathOf(object), object);
      if (before) assert.equal(first.code, 201, `${name}: ${first.body["message"]}`);
      const answer = before ? await ask("PUT", `${pathOf(object)}/refused-${index}`, { ...first.body, spec }) : first;
      assert.equal(answer.code, 422, `${kind.kind}: ${name}: answered ${answer.code}`);
      const details = answer.body["details"] as { causes?: { field: string; message: string }[] };
      const causes = details.causes?.filter((cause) => cause.field === field) ?? [];
      assert.ok(
        causes.some((cause) => `${cause.message}`.includes(says)),
        `${kind.kind}: ${name}: ${answer.body["message"]}`,
      );
    }
  });

  test("serves the built-in kinds under the names that we use", async () => {
    for (const kind of builtinKinds) {
      const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
      const resources = (await ask("GET", root)).body["resources"] as {
        name: string;
        kind: string;
        namespaced: boolean;
      }[];
      const served = resources?.find(({ name }) => name === kind.plural);
      assert.deepEqual(
        { kind: served?.kind, namespaced: served?.namespaced },
        { kind: kind.kind, namespaced: kind.namespaced },
        `${root}/${kind.plural}`,
      );
    }
  });

  test("accepts every example manifest", async () => {
    const manifests = globSync("*/**/*.yaml", { cwd: import.meta.dirname })
      .sort()
      .flatMap((file) => parseAllDocuments(readFileSync(join(import.meta.dirname, file), "utf8")))
      .map((document) => document.toJS() as Manifest)
      .sort((left, right) => Number(right.kind === "Namespace") - Number(left.kind === "Namespace"));
    await ask("POST", "/api/v1/namespaces", { metadata: { name: "capstan-system" } });
    for (const object of manifests) {
      const answer = await ask("POST", `${pathOf(object)}?fieldValidation=Strict`, object);
      const known = answer.code === 409;
      assert.ok(answer.code === 201 || known, `${object.kind} ${object.metadata.name}: ${answer.body["message"]}`);
    }
  });
});

const plurals = new Map(
  customResourceDefinitions.map(({ spec }) => [
    `${spec.group}/${spec.versions[0]?.name}/${spec.names.kind}`,
    spec.names.plural,
  ]),
);

function pathOf({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = plurals.get(`${apiVersion}/${kind}`) ?? `${kind.toLowerCase()}s`;
  const clusterWide = ["Namespace", "CapabilityDefinition"].includes(kind);
  return clusterWide ? `${root}/${plural}` : `${root}/namespaces/${metadata.namespace ?? "default"}/${plural}`;
}

async function eventually(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + startUpMs;
  for (;;) {
    if (await isTrue().catch((error: unknown) => rethrowAssertion(error))) return;
    if (Date.now() > deadline) throw new Error(`waited ${startUpMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A server that is not there yet refuses connections; that is only a reason to ask again. */
function rethrowAssertion(error: unknown): false {
  if (error instanceof assert.AssertionError) throw error;
  return false;
}
