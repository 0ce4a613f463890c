import assert from "node:assert/strict";
import { basename } from "node:path";
import { test } from "node:test";
import { startEmbedded } from "./embedded.ts";
import { kubectl, kubectls } from "./kubectl.ts";

const programs = kubectls();

test("kubectl sees worlds bound", {
  skip: programs.length > 0 ? false : "there is no kubectl on this machine",
}, async (context) => {
  const { plane } = await startEmbedded(context);
  for (const program of programs) {
    await context.test(basename(program), async () => {
      const run = (...args: string[]): Promise<string> => kubectl(program, plane.kubeconfig, args);
      await run("apply", "-f", "demo");
      await run(
        "wait",
        "--for=condition=BindingsResolved=True",
        "world/anvil-sample-world",
        "-n",
        "anvil-demo",
        "--timeout=30s",
      );
      assert.match(await run("get", "world", "-n", "anvil-demo"), /stormy-world\s+Error/);
      assert.match(
        await run("get", "capbind", "-n", "anvil-demo", "-o", "name"),
        /cb-anvil-sample-world-core-physics-engine-time-source-world-1/,
      );
      assert.match(await run("describe", "world", "stormy-world", "-n", "anvil-demo"), /UnresolvedBindings/);
      assert.match(await run("explain", "world.spec"), /gameRef/);
      await run("delete", "ns", "anvil-demo", "--timeout=60s");
    });
  }
});
