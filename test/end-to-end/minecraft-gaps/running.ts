import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { ConfigMap } from "../../../src/api/builtin/configuration.ts";
import { StatefulSet } from "../../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../../src/api/papermc-server.ts";
import { Plugin } from "../../../src/api/plugin.ts";
import { annotations } from "../../../src/api/well-known.ts";
import { createOutside } from "../../../src/controllers/minecraft/outside.ts";
import { createOutsideFetch } from "../../../src/controllers/minecraft/outside-fetch.ts";
import { prepareServer } from "../../../src/controllers/minecraft/prepare-server.ts";
import { systemEnv } from "../../../src/env/system.ts";
import { findCondition } from "../../../src/kube/condition.ts";
import { eventually } from "../embedded.ts";
import { type MinecraftWorld, namespace, newServer } from "../minecraft-world.ts";

export const offRcon = { rcon: { enabled: false, passwordSecret: { name: "", key: "" }, port: 25_575 } };

type Schedule = PaperMCServer["spec"]["updateSchedule"];

export const window = (
  changes: Partial<Schedule["maintenanceWindow"]>,
  checkCron = "0 3 * * *",
): { readonly updateSchedule: Schedule } => ({
  updateSchedule: {
    checkCron,
    timeZone: "UTC",
    maintenanceWindow: { cron: "* * * * *", enabled: true, duration: "1h", ...changes },
  },
});
/** Open at any time. */
export const openWindow = window({});

export const until = (
  world: MinecraftWorld,
  name: string,
  check: (status: NonNullable<PaperMCServer["status"]>, server: PaperMCServer) => void,
): Promise<PaperMCServer> =>
  eventually(
    () => world.server(name),
    (server) => check(server.status ?? {}, server),
  );

/** Makes a server and waits until players can connect. */
export async function running(
  world: MinecraftWorld,
  name: string,
  version: string,
  more: Partial<PaperMCServer["spec"]> = {},
): Promise<void> {
  await newServer(world.client, name, 25_575, { ...offRcon, ...more });
  await until(world, name, (status) => assert.equal(imageOf(status), version));
  await isUp(world, name);
}

/** Plays the node until the server runs what it is ordered to. */
export async function isUp(world: MinecraftWorld, name: string): Promise<void> {
  await world.playNode();
  await until(world, name, ({ conditions }) =>
    assert.equal(findCondition(conditions, "StatefulSetReady")?.status, "True"),
  );
}

/** Plays the node as long as it takes until an update has succeeded that leads to this version. */
export const updated = (world: MinecraftWorld, name: string, version: string): Promise<PaperMCServer> =>
  eventually(
    async () => {
      await world.playNode();
      return world.server(name);
    },
    ({ status }) => {
      const { successful, message } = status?.lastUpdate ?? {};
      assert.deepEqual([status && imageOf(status), successful], [version, true], message);
      assert.equal(status?.updateProgress, undefined);
    },
  );

/** `1.21.4-232`. */
export const imageOf = ({ currentVersion, currentBuild }: NonNullable<PaperMCServer["status"]>): string =>
  `${currentVersion}-${currentBuild}`;

export const change = (world: MinecraftWorld, name: string, spec: object): Promise<PaperMCServer> =>
  world.client.patch(PaperMCServer, { namespace, name }, { type: "merge", value: { spec } });

export const changePlugin = (world: MinecraftWorld, name: string, spec: object): Promise<Plugin> =>
  world.client.patch(Plugin, { namespace, name }, { type: "merge", value: { spec } });

export async function ask(
  world: MinecraftWorld,
  name: string,
  annotation: "applyNow" | "backupNow",
  spec: object = {},
): Promise<void> {
  const now = String(Math.floor(systemEnv.now().getTime() / 1_000));
  const value = { metadata: { annotations: { [annotations[annotation]]: now } }, spec };
  await world.client.patch(PaperMCServer, { namespace, name }, { type: "merge", value });
}

export const setOf = (world: MinecraftWorld, name: string): Promise<StatefulSet> =>
  world.client.get(StatefulSet, { namespace, name });

/** What a server has installed, by plugin. */
export const installedOn = ({ status }: PaperMCServer): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries((status?.plugins ?? []).map(({ pluginRef, currentVersion }) => [pluginRef.name, currentVersion]));

/** A folder for a server's volume, and what our own container does to it each time before the server starts. */
export function volume(context: TestContext, world: MinecraftWorld, name: string) {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-volume-"));
  const { fetch, close } = createOutsideFetch({ trustedUrls: Object.values(world.recordings.baseUrls) });
  context.after(() => {
    close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const outside = createOutside({ env: systemEnv, userAgent: "test", fetch });
  return {
    dataDir,
    /** The jars that Paper would load then. */
    async start(rcon?: { readonly port: string; readonly password: string }): Promise<readonly string[]> {
      const list = await world.client.get(ConfigMap, { namespace, name: `${name}-plugins` });
      const listPath = join(dataDir, "plugins.json");
      writeFileSync(listPath, list.data?.["plugins.json"] ?? "");
      await prepareServer({ listPath, dataDir, outside, say: () => undefined, ...(rcon && { rcon }) });
      return readdirSync(join(dataDir, "plugins")).filter((file) => file.endsWith(".jar"));
    },
  };
}
