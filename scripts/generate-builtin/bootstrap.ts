// Writes src/apiserver/bootstrap.generated.json: what the pipeline makes of the objects that every server starts with, so
// that a start need not do it again. Run after a change of src/apiserver/bootstrap.ts or of what the pipeline does to them:
//
//     node scripts/generate-builtin/bootstrap.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bootstrapObjects } from "../../src/apiserver/bootstrap.ts";
import type { BootstrapEntry } from "../../src/apiserver/bootstrap-entries.ts";
import { builtinResources } from "../../src/apiserver/builtin/resources.ts";
import { collectionName } from "../../src/apiserver/endpoint.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { KubeObject } from "../../src/kube/object.ts";

const token = "bootstrap";

export async function bootstrapThroughPipeline(): Promise<readonly BootstrapEntry[]> {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token, user: { name: "system:apiserver", groups: ["system:masters"] } }],
    startsEmpty: true,
  });
  const made: BootstrapEntry[] = [];
  // In their order: namespaces come first, because the others are born into them.
  for (const object of bootstrapObjects()) made.push(await create(server.handle, object));
  await server.close();
  return made;
}

type Handle = Awaited<ReturnType<typeof createApiServer>>["handle"];

async function create(handle: Handle, object: KubeObject): Promise<BootstrapEntry> {
  const resource = builtinResources().find(
    ({ group, version, kind }) =>
      kind === object.kind && object.apiVersion === (group === "" ? version : `${group}/${version}`),
  );
  if (!resource) throw new Error(`${object.apiVersion} ${object.kind} is not served`);
  const { group, version, plural } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const { namespace, name } = object.metadata;
  const answer = await handle({
    method: "POST",
    target: namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "user-agent": "kube-apiserver/v1.36",
    },
    body: Buffer.from(JSON.stringify(object)),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (answer.status !== 201) throw new Error(`${object.kind} ${name} was refused: ${text}`);
  return { collection: collectionName(group, plural), object: timeless(JSON.parse(text) as KubeObject) };
}

function timeless(object: KubeObject): KubeObject {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _made,
    managedFields,
    ...metadata
  } = object.metadata;
  const entries = managedFields?.map(({ time: _time, ...entry }) => entry);
  return { ...object, metadata: { ...metadata, ...(entries && { managedFields: entries }) } };
}

if (import.meta.main) {
  const file = join(import.meta.dirname, "..", "..", "src", "apiserver", "bootstrap.generated.json");
  const text = JSON.stringify(JSON.stringify(await bootstrapThroughPipeline()));
  writeFileSync(file, `${text}\n`);
  console.log(`bootstrap.generated.json: ${text.length} bytes`);
}
