// The tier that needs a real cluster: one story after the other on one cluster, because a start of all of it takes longer
// than any of them. `npm run test:cluster` starts the cluster and this file in it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import { actionStory } from "../end-to-end/actions-story.ts";
import { classStory } from "../end-to-end/class-runtime-story.ts";
import { worldsStory } from "../end-to-end/game-platform-story.ts";
import { type Recordings, startRecordings } from "../end-to-end/minecraft-recordings.ts";
import { minecraftStory } from "../end-to-end/minecraft-story.ts";
import { actionFaults } from "./action-faults.ts";
import { classTroubles } from "./class-troubles.ts";
import { dashboardStory } from "./dashboard.ts";
import { databaseFaults } from "./database-faults.ts";
import { typeOperations } from "./documents.ts";
import { resolverFaults } from "./faults.ts";
import { becomesReady, install, printed } from "./install.ts";
import { openTo } from "./outside.ts";
import { checkPermissions } from "./permissions.ts";
import { startSecurePostgres } from "./postgres.ts";
import { registryStory } from "./registry.ts";
import { uninstall } from "./uninstall.ts";
import { checkUpgraded, installEarlier } from "./upgrade.ts";
import { giveVolume } from "./volume.ts";
import { type ClusterWorld, eventually, objectsIn, objectsOf, openWorld } from "./world.ts";

test("on a real cluster", { timeout: 1_500_000 }, async (context) => {
  const world = await openWorld();
  context.after(() => world.close());
  const postgres = await startSecurePostgres(world.machine);
  context.after(() => postgres.stop());
  const recordings = await startRecordings();
  context.after(() => recordings.server.close());
  const outside = await openTo(world.machine, recordings.server.port);
  context.after(() => outside.close());
  const reachable = seenFrom(recordings, `http://${world.machine}:${outside.port}`);
  const settings = {
    CAPSTAN_HANGAR_URL: reachable.baseUrls.hangar,
    CAPSTAN_MODRINTH_URL: reachable.baseUrls.modrinth,
    CAPSTAN_PAPER_URL: reachable.baseUrls.paper,
    CAPSTAN_DOCKER_HUB_URL: reachable.baseUrls.dockerHub,
  };

  const { CAPSTAN_CLUSTER_TEST_EARLIER: earlier } = process.env;
  let before: ReadonlyMap<string, string> | undefined;
  await context.test(
    "an earlier version is there",
    {
      skip: earlier
        ? false
        : "not asked for, or the history of this checkout does not reach back to an earlier version",
    },
    async (inner) => {
      before = await installEarlier(inner, world, earlier ?? "");
    },
  );

  const installed = await part(context, "capstan install | kubectl apply --server-side -f -", async (inner) => {
    const { url: databaseUrl, certificate: databaseCertificate } = postgres;
    await install(world, { image: world.image, databaseUrl, databaseCertificate, settings });
    const deployments = await becomesReady(world, inner);
    inner.diagnostic(`ready: ${deployments.join(", ")}`);
  });
  if (!installed) return;

  if (before) {
    const known = before;
    await part(context, "the upgrade has kept everything", () => checkUpgraded(world, known));
  }

  await part(context, "worlds are bound", async (inner) => {
    await world.apply(...objectsOf("demo/10-game-world.yaml"));
    await worldsStory(inner, world.client, eventually);
  });
  await part(context, "a class runs in real pods, crashes for real, and recovers", (inner) =>
    classStory(inner, {
      client: world.client,
      eventually,
      image: "docker.io/local/httpd:1",
      crashingImage: "docker.io/local/crash:1",
    }),
  );
  await part(context, "a class tells what a real node and a real quota do to it", (inner) =>
    classTroubles(inner, world),
  );
  await part(context, "servers and plugins are solved, and the server runs", async (inner) => {
    await giveVolume(world);
    await minecraftStory(inner, { client: world.client, eventually, recordings: reachable, hasNode: true });
  });
  await part(context, "actions are approved, isolated and refused", async (inner) => {
    const people = await signedInAs(inner, world, ["alice", "bob", "mallory"]);
    await actionStory(inner, {
      client: world.client,
      eventually,
      as: (user) => people.get(user) ?? assert.fail(user),
      image: "docker.io/local/httpd:1",
    });
  });
  await part(context, "services register from pods", (inner) => registryStory(inner, world));
  await part(context, "people stay signed in to the dashboard", (inner) => dashboardStory(inner, world));
  await part(context, "docs/operations can be followed", (inner) => typeOperations(inner, world, postgres));
  await part(context, "faults: the resolver and the API server", (inner) => resolverFaults(inner, world));
  await part(context, "faults: the registry and PostgreSQL", (inner) => databaseFaults(inner, world, postgres));
  await part(context, "faults: the executor and PostgreSQL", (inner) => actionFaults(inner, world, postgres));
  await part(context, "rights: nothing missing, nothing in vain", (inner) =>
    checkPermissions(inner, world, objectsIn(printed(`--image=${world.image}`))),
  );
  await part(context, "uninstalled, nothing of it is left", () => uninstall(world));
});

/** True when it went well; whatever follows decides whether that matters. */
async function part(
  context: TestContext,
  name: string,
  story: (inner: TestContext) => Promise<void>,
): Promise<boolean> {
  const only = process.env["CAPSTAN_CLUSTER_TEST_ONLY"];
  if (only && !name.includes("install") && !name.includes(only)) return true;
  let isGood = false;
  await context.test(name, async (inner) => {
    await story(inner);
    isGood = true;
  });
  return isGood;
}

const seenFrom = (recordings: Recordings, url: string): Recordings => ({
  ...recordings,
  server: { ...recordings.server, url },
  baseUrls: Object.fromEntries(
    Object.entries(recordings.baseUrls).map(([name, base]) => [name, base.replace(recordings.server.url, url)]),
  ) as unknown as Recordings["baseUrls"],
});

/** The administrator may be anybody; a kubeconfig says whom. */
async function signedInAs(
  context: TestContext,
  { kubeconfig }: ClusterWorld,
  users: readonly string[],
): Promise<ReadonlyMap<string, Client>> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-people-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const found = new Map<string, Client>();
  for (const user of users) {
    const file = join(folder, user);
    const text = readFileSync(kubeconfig, "utf8");
    writeFileSync(
      file,
      text.replace(/user: \{token/, `user: {as: ${user}, as-groups: ["system:authenticated"], token`),
    );
    const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [file] });
    context.after(() => close());
    found.set(user, client);
  }
  return found;
}
