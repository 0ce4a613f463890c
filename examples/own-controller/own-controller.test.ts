import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import {
  type Client,
  createClient,
  createManager,
  customResourceDefinition,
  findCondition,
  parseYaml,
  systemEnv,
} from "../../src/index.ts";
import { createWorld, eventually as inTime } from "../../src/testing/index.ts";
import { Page } from "./page.ts";
import { ConfigMap, evaluate, publishPages } from "./publish.ts";

/** The manifest that the README shows. */
function samplePage(): Page {
  const [, yaml = ""] =
    /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(import.meta.dirname, "README.md"), "utf8")) ?? [];
  const parsed = parseYaml(yaml, { file: "README.md" });
  assert.ok(parsed.ok);
  return parsed.documents[0]?.value as Page;
}

async function running(context: TestContext): Promise<Client> {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  const client = createClient({
    env: systemEnv,
    transport: (request) => server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } }),
  });
  await client.create(CustomResourceDefinition, customResourceDefinition(Page));
  const manager = createManager({ env: systemEnv, client });
  manager.add(publishPages);
  await manager.start();
  context.after(async () => {
    await manager.stop();
    server.close();
  });
  return client;
}

async function eventually<T>(ask: () => Promise<T>, passes: (answer: T) => void): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await ask();
      passes(answer);
      return answer;
    } catch (error) {
      if (attempt === 400) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const published = (page: Page): string | undefined => findCondition(page.status?.conditions, "Published")?.reason;

test("the README's page is published, repaired, changed and refused by field", { timeout: 60_000 }, async (context) => {
  const client = await running(context);
  const sample = samplePage();
  const key = { namespace: "default", name: "hello" };
  const mapKey = { namespace: "default", name: "hello-page" };
  await eventually(
    () => client.create(Page, sample),
    () => {},
  );
  await eventually(
    () => client.get(Page, key),
    (page) => assert.equal(published(page), "Published"),
  );
  const first = await client.get(ConfigMap, mapKey);
  assert.match(first.data?.["index.html"] ?? "", /<h1>Hello &amp; welcome<\/h1>\n<p>Change me/);

  await client.delete(ConfigMap, mapKey);
  await eventually(
    () => client.get(ConfigMap, mapKey),
    ({ metadata }) => assert.notEqual(metadata.uid, first.metadata.uid),
  );
  await client.patch(Page, key, { type: "merge", value: { spec: { title: "New" } } });
  await eventually(
    () => client.get(ConfigMap, mapKey),
    ({ data }) => assert.match(data?.["index.html"] ?? "", /<h1>New<\/h1>/),
  );
  await assert.rejects(
    client.patch(Page, key, { type: "merge", value: { spec: { title: "" } } }),
    /spec\.title.*at least 1 char/,
  );
});

test("a ConfigMap of somebody else is left alone, and the page says so", { timeout: 60_000 }, async (context) => {
  const client = await running(context);
  const mapKey = { namespace: "default", name: "taken-page" };
  await client.create(ConfigMap, { metadata: mapKey, data: { mine: "yes" } });
  await eventually(
    () => client.create(Page, { ...samplePage(), metadata: { name: "taken", namespace: "default" } }),
    () => {},
  );
  await eventually(
    () => client.get(Page, { namespace: "default", name: "taken" }),
    (page) => assert.equal(published(page), "NameTaken"),
  );
  assert.deepEqual((await client.get(ConfigMap, mapKey)).data, { mine: "yes" });
});

test("the same controller on capstan/testing, with a clock that the test moves", { timeout: 60_000 }, async () => {
  const world = createWorld({ kinds: [Page, ConfigMap] });
  const manager = createManager({ env: world.env, client: world.client });
  manager.add(publishPages);
  const started = manager.start();
  await world.env.advance(1_000);
  await started;
  await world.direct.create(Page, samplePage());
  await inTime(world.env, () => assert.deepEqual(world.all(Page).map(published), ["Published"]));
  assert.equal(world.all(ConfigMap).length, 1);
  const stopped = manager.stop();
  await world.env.advance(1_000);
  await stopped;
});

test("a page's text cannot become markup", () => {
  const { spec, ...page } = samplePage();
  const decision = evaluate({
    page: { ...page, metadata: { ...page.metadata, uid: "u" }, spec: { ...spec, paragraphs: ['<script a="b">&'] } },
    existing: undefined,
  });
  assert.ok(decision.kind === "Publish");
  assert.match(decision.configMap.data?.["index.html"] ?? "", /<p>&lt;script a=&quot;b&quot;&gt;&amp;<\/p>/);
});
