import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import { actionStory } from "./actions-story.ts";
import { classStory } from "./class-runtime-story.ts";
import { type Embedded, eventually as once, startEmbedded } from "./embedded.ts";
import type { Eventually } from "./game-platform-story.ts";

/** Three times as patient as other tests: an action starts a program of its own. */
const eventually: Eventually = (ask, passes) =>
  once(ask, passes)
    .catch(() => once(ask, passes))
    .catch(() => once(ask, passes));

test("the stories that are told on a real cluster are true on the embedded one", {
  timeout: 200_000,
}, async (context) => {
  const embedded = await startEmbedded(context);
  const { client } = embedded;
  await context.test("classes", (inner) => classStory(inner, { client, eventually, image: "example/echo:1" }));
  await context.test("actions", async (inner) => {
    const people = await signedInAs(inner, embedded, ["alice", "bob", "mallory"]);
    const as = (user: string): Client => people.get(user) ?? assert.fail(user);
    await actionStory(inner, { client, eventually, as, image: "example/web:1" });
  });
});

async function signedInAs(
  context: TestContext,
  { plane, dataDir }: Embedded,
  users: readonly string[],
): Promise<ReadonlyMap<string, Client>> {
  const found = new Map<string, Client>();
  for (const user of users) {
    const file = join(dataDir, `kubeconfig-${user}`);
    const text = readFileSync(plane.kubeconfig, "utf8");
    writeFileSync(
      file,
      text.replace(/^(\s*)token:/m, `$1as: ${user}\n$1as-groups: ["system:authenticated"]\n$1token:`),
    );
    const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [file] });
    context.after(() => close());
    found.set(user, client);
  }
  return found;
}
