import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { test } from "node:test";
import { systemEnv } from "../../src/env/system.ts";
import { eventually, startEmbedded } from "./embedded.ts";
import { kubectl, kubectls } from "./kubectl.ts";
import { recordHangar, recordPaper, startRecordings } from "./minecraft-recordings.ts";

const command = [process.execPath, join(import.meta.dirname, "prepare-program.ts")];
const programs = kubectls();
const chosen = [...new Set([programs.at(0), programs.at(-1)])].flatMap((program) => program ?? []);

const manifests = JSON.stringify({
  apiVersion: "v1",
  kind: "List",
  items: [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "games" } },
    {
      apiVersion: "mc.k8s.lex.la/v1beta1",
      kind: "PaperMCServer",
      metadata: { name: "survival", namespace: "games", labels: { environment: "production" } },
      spec: {
        updateStrategy: "auto",
        updateSchedule: { checkCron: "0 3 * * *", maintenanceWindow: { cron: "0 4 29 2 *", enabled: true } },
        gracefulShutdown: { timeout: "1s" },
        rcon: { enabled: false, passwordSecret: { name: "", key: "" } },
        podTemplate: { spec: { containers: [{ name: "minecraft" }] } },
      },
    },
    ...["essentialsx", "old-plugin"].map((project) => ({
      apiVersion: "mc.k8s.lex.la/v1beta1",
      kind: "Plugin",
      metadata: { name: project, namespace: "games" },
      spec: {
        source: { type: "hangar", project },
        instanceSelector: { matchLabels: { environment: "production" } },
      },
    })),
  ],
});

if (chosen.length === 0) test("an admin with kubectl", { skip: "there is no kubectl on the PATH" }, () => undefined);
for (const program of chosen)
  test(`an admin with ${basename(program)}: applied, looked at, explained, unblocked, updated, removed`, async (context) => {
    const recordings = await startRecordings();
    context.after(() => recordings.server.close());
    recordPaper(recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 149 }, { id: 151 }] });
    recordHangar(recordings, "essentialsx", { "2.21.0": { minecraft: ["1.20.6", "1.21.1"] } });
    recordHangar(recordings, "old-plugin", { "1.5.0": { minecraft: ["1.20.6"] } });
    const { plane } = await startEmbedded(context, [], { command, baseUrls: recordings.baseUrls });
    const run = (args: readonly string[], input?: string): Promise<string> =>
      kubectl(program, plane.kubeconfig, args, input);
    const games = (args: string): Promise<string> => run([...args.split(" "), "-n", "games"]);
    const until = (args: string, prints: RegExp): Promise<string> =>
      eventually(
        () => games(args),
        (text) => assert.match(text, prints),
      );

    const applied = await run(["apply", "-f", "-"], manifests);
    assert.match(applied, /papermcserver\.mc\.k8s\.lex\.la\/survival created/);
    await games("wait --for=condition=StatefulSetReady --timeout=60s papermcserver/survival");
    await until(
      "get papermcservers",
      /^NAME +VERSION +BUILD +STATUS +DESIRED +BLOCKED +AGE\nsurvival +1\.20\.6 +151 +ReconcileSuccess +1\.20\.6 +true +\S+\n$/,
    );
    await until(
      "get plugins",
      /^NAME +SOURCE +VERSION +MATCHED +STATUS +AGE\nessentialsx +hangar +2\.21\.0 +1 +available +\S+\nold-plugin +hangar +1\.5\.0 +1 +available +\S+\n$/,
    );
    assert.match(await games("get paper -o wide"), /Plugin 'old-plugin' is incompatible with Paper 1\.21\.1/);
    const told = await until("describe papermcserver survival", /PluginsResolved/);
    assert.match(told, /Update Blocked:[\s\S]*Plugin: +old-plugin[\s\S]*Supported Versions:\s+1\.20\.6/);
    assert.match(told, /UpdateBlocked[\s\S]*Plugin 'old-plugin' is incompatible with Paper 1\.21\.1/);

    await games("delete plugin old-plugin --timeout=60s");
    await games("wait --for=condition=UpdateAvailable --timeout=60s papermcserver/survival");
    const seconds = Math.floor(systemEnv.now().getTime() / 1_000);
    await games(`annotate papermcserver survival mc.k8s.lex.la/apply-now=${seconds}`);
    await games("wait --for=jsonpath={.status.currentVersion}=1.21.1 --timeout=90s papermcserver/survival");
    await games("wait --for=condition=StatefulSetReady --timeout=60s papermcserver/survival");
    assert.equal(await games("get papermcserver survival -o jsonpath={.status.lastUpdate.successful}"), "true");
    assert.match(await until("describe papermcserver survival", /UpdateCompleted/), /Paper 1\.21\.1 build 133 runs/);

    await games("delete papermcserver survival --timeout=60s");
    await until("get statefulsets -o name", /^$/);
  });
