import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";

async function run(client: Client, word: string, image = "capstan:test"): Promise<void> {
  const container = {
    name: "main",
    image,
    command: ["capstan", "provide", word],
    env: [{ name: "COLOUR", value: "green" }],
  };
  const spec = { restartPolicy: "Never" as const, terminationGracePeriodSeconds: 1, containers: [container] };
  // The namespace gets its account in a moment, without which no pod is taken.
  await eventually(
    () => client.create(Pod, { metadata: { namespace, name: word }, spec }),
    () => undefined,
  );
}

const ended = (client: Client, name: string) =>
  eventually(
    () => client.get(Pod, { namespace, name }),
    ({ status }) => assert.ok(status?.containerStatuses?.[0]?.state?.terminated, JSON.stringify(status)),
  ).then(({ status }) => status?.containerStatuses?.[0]?.state?.terminated);

async function log(client: Client, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of client.log({ namespace, name })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const says = (client: Client, name: string, words: RegExp) =>
  eventually(
    () => log(client, name),
    (text) => assert.match(text, words),
  );

const gone = (client: Client, name: string) =>
  eventually(
    () => client.get(Pod, { namespace, name }).then(() => false, isNotFound),
    (isGone) => assert.equal(isGone, true),
  );

test("small programs of our own run as threads, which end like processes", { timeout: 120_000 }, async (context) => {
  const { client } = await startNode(context, {
    threads: { provide: join(import.meta.dirname, "localnode-thread-program.mjs") },
  });

  await context.test("with variables, output and an exit code", async () => {
    await run(client, "done");
    const terminated = await ended(client, "done");
    assert.deepEqual([terminated?.exitCode, terminated?.reason], [3, "Error"]);
    assert.equal(await log(client, "done"), "done green\n");
  });

  await context.test("one that is asked to end hears of it, and its last words are kept", async () => {
    await run(client, "waits");
    await says(client, "waits", /waits green/);
    const following = (async () => {
      let text = "";
      for await (const chunk of client.log({ namespace, name: "waits" }, { follow: true })) text += Buffer.from(chunk);
      return text;
    })();
    await client.delete(Pod, { namespace, name: "waits" });
    await gone(client, "waits");
    assert.equal(await following, "waits green\ngot SIGTERM\n");
  });

  await context.test("one that does not listen is ended by force when its grace period is over", async () => {
    await run(client, "stubborn");
    await says(client, "stubborn", /stubborn green/);
    const askedAt = performance.now();
    await client.delete(Pod, { namespace, name: "stubborn" });
    await gone(client, "stubborn");
    assert.ok(performance.now() - askedAt > 900, "it was given its grace period");
  });

  await context.test("one that throws has failed, and says why in its log", async () => {
    await run(client, "throws");
    assert.equal((await ended(client, "throws"))?.exitCode, 1);
    assert.match(await log(client, "throws"), /Error: no luck/);
  });

  await context.test("one that takes too much memory ends, and nothing else does", async () => {
    await run(client, "hoards");
    assert.equal((await ended(client, "hoards"))?.exitCode, 1);
    assert.match(await log(client, "hoards"), /memory/i);
    assert.equal((await client.get(Namespace, { name: namespace })).metadata.name, namespace);
  });

  await context.test("a foreign image with the same command is stood in for", async () => {
    await run(client, "foreign", "busybox");
    await eventually(
      () => client.get(Pod, { namespace, name: "foreign" }),
      ({ status }) => assert.equal(status?.phase, "Running"),
    );
    assert.equal(await log(client, "foreign"), "");
  });
});
