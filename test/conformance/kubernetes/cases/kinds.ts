import assert from "node:assert/strict";
import { assertStatus, asTable, type Case, type Context, mergePatch } from "../case.ts";
import { type KindSample, kindSamples, pathOf } from "../kinds.ts";

/** What holds for every built-in kind. */
export const kindCases: readonly Case[] = kindSamples.flatMap((sample) => [
  { name: `${sample.kind}: is created with its defaults filled in`, run: (t) => isDefaulted(t, sample) },
  { name: `${sample.kind}: lives through get, list, change and delete`, run: (t) => lives(t, sample) },
  ...(sample.invalid
    ? [{ name: `${sample.kind}: is refused when invalid, naming the field`, run: (t: Context) => isRefused(t, sample) }]
    : []),
]);

async function sampleObject(t: Context, { apiVersion, kind, body }: KindSample): Promise<Record<string, unknown>> {
  const namespace = await t.namespace();
  const filled = JSON.parse(JSON.stringify(body).replaceAll("NAMESPACE", namespace)) as Record<string, unknown>;
  return { apiVersion, kind, metadata: { name: `k-${t.id}` }, ...filled };
}

async function created(t: Context, sample: KindSample) {
  const path = pathOf(sample, await t.namespace());
  const reply = await t.create(path, await sampleObject(t, sample));
  const object = `${path}/k-${t.id}`;
  t.onCleanUp(async () => {
    await t.request("PATCH", object, { metadata: { finalizers: null } }, { contentType: mergePatch });
    await t.request("DELETE", `${object}?propagationPolicy=Background`);
  });
  return { reply, path, object };
}

async function isDefaulted(t: Context, sample: KindSample): Promise<void> {
  const { reply } = await created(t, sample);
  assert.equal(reply.at("apiVersion"), sample.apiVersion);
  assert.equal(reply.at("kind"), sample.kind);
  assert.match(reply.text("metadata.uid"), /^[0-9a-f-]{36}$/);
  assert.match(reply.text("metadata.resourceVersion"), /^\d+$/);
  assert.match(reply.text("metadata.creationTimestamp"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  for (const [field, value] of Object.entries(sample.defaults)) assert.deepEqual(reply.at(field), value, field);
}

async function lives(t: Context, sample: KindSample): Promise<void> {
  const { reply, path, object } = await created(t, sample);
  const read = await t.get(object);
  assert.deepEqual(read.value, reply.value, "what is read is what was answered to the create");
  const list = await t.get(path);
  assert.equal(list.at("kind"), `${sample.kind}List`);
  assert.equal(list.at("apiVersion"), sample.apiVersion);
  assert.ok(list.list("items").some((item) => item.at("metadata.name") === `k-${t.id}`));
  const table = await t.get(path, { accept: asTable });
  assert.equal(table.at("kind"), "Table");
  assert.ok(table.list("rows").some((row) => row.at("object.metadata.name") === `k-${t.id}`));
  const columns = table.list("columnDefinitions").length;
  for (const row of table.list("rows")) assert.equal(row.list("cells").length, columns);
  const changed = await t.patch(object, mergePatch, { ...sample.change, metadata: { labels: { changed: "yes" } } });
  assert.equal(changed.at("metadata.labels.changed"), "yes");
  if (sample.changed) assert.deepEqual(changed.at(sample.changed[0]), sample.changed[1]);
  assert.notEqual(changed.at("metadata.resourceVersion"), reply.at("metadata.resourceVersion"));
  const again = await t.put(object, changed.value);
  assert.equal(
    again.at("metadata.resourceVersion"),
    changed.at("metadata.resourceVersion"),
    "an update without change writes nothing",
  );
  await t.patch(object, mergePatch, { metadata: { finalizers: null } });
  await t.remove(`${object}?propagationPolicy=Background`);
  assertStatus(await t.request("GET", object), 404, "NotFound");
}

async function isRefused(t: Context, sample: KindSample): Promise<void> {
  const [body, message] = sample.invalid ?? [{}, /./];
  const path = pathOf(sample, await t.namespace());
  const object = { apiVersion: sample.apiVersion, kind: sample.kind, metadata: { name: `k-${t.id}` }, ...body };
  const reply = await t.request("POST", path, object);
  assertStatus(reply, 422, "Invalid", message);
  assert.equal(reply.at("details.kind"), sample.kind);
  assert.equal(reply.at("details.name"), `k-${t.id}`);
  assert.ok(reply.list("details.causes").length > 0);
  assertStatus(await t.request("GET", `${path}/k-${t.id}`), 404, "NotFound");
}
