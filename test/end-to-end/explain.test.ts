import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openTerminal } from "../documents/terminal.ts";
import { eventually, startEmbedded } from "./embedded.ts";

test("explain tells the story of objects of every system, from status, events, the audit trail and the solver", {
  timeout: 180_000,
}, async (context) => {
  const { dataDir } = await startEmbedded(context, ["demo"], {
    demo: true,
    command: [process.execPath, join(import.meta.dirname, "../documents/pod-program.ts")],
  });
  const terminal = openTerminal(context, dataDir);
  const says = async (command: string, expected: readonly RegExp[]): Promise<string> => {
    const { output } = await eventually(
      () => terminal.type(`npx capstan explain ${command}`),
      ({ code, output: text }) => {
        assert.equal(code, 0, text);
        for (const part of expected) assert.match(text, part);
      },
    );
    return output;
  };

  await says("world stormy-world -n anvil-demo", [
    /^WorldInstance anvil-demo\/stormy-world: Error$/m,
    /weather needs time\.source >=2\.0\.0 .*: nothing$/m,
    /not core-time-source 1\.0\.0: it has version 1\.0\.0/,
    /to mend it: let core-time-source provide/,
    /Warning {2}UnresolvedBindings/,
  ]);
  await says("papermcserver survival -n minecraft-demo", [
    /now \S+, chosen 1\.20\.6, newest 1\.21\.4; it is proven that nothing better fits/,
    /why: Plugin 'market' is incompatible/,
    /to mend it: without the plugin market it reaches 1\.21\.4-232/,
    /UpdateBlocked/,
  ]);
  await says("plugin market -n minecraft-demo", [/chosen 1\.5\.0/]);
  await says("crt greeter -n oaas-demo", [/: available$/m, /Normal {3}Available/]);

  const execution = "checkout-is-slow-step-1 -n shop-demo";
  await says(`ke ${execution}`, [/: waiting_approval$/m, /Who did what:/, /transition: waiting_approval/]);
  const approved = await terminal.type(`npx capstan approve ${execution} --reason agreed`);
  assert.equal(approved.code, 0, approved.output);
  await says(`kubernetesexecution ${execution}`, [
    /: completed$/m,
    /capstan-approver {2}approve: Approved/,
    /effect: Succeeded/,
  ]);

  // The same for programs.
  const story = JSON.parse(await says(`ke ${execution} -o json`, [])) as Record<string, readonly unknown[]>;
  assert.ok((story["audit"] ?? []).length > 5);
  assert.ok((story["events"] ?? []).length > 0);
  assert.equal(
    await says("world stormy-world -n anvil-demo -o name", []),
    "worldinstance.game.platform/stormy-world\n",
  );
  await says("world stormy-world -n anvil-demo -o yaml", [/^phase: Error$/m]);

  // What cannot be explained is said with the next step.
  const mistakes: readonly (readonly [command: string, says: RegExp])[] = [
    ["pod x", /knows no kind pod; it knows .*worldinstance/],
    ["world nowhere -n anvil-demo", /there is no WorldInstance nowhere in namespace anvil-demo; name another with -n/],
    ["world stormy-world", /there is no WorldInstance stormy-world in namespace default/],
  ];
  for (const [command, expected] of mistakes) {
    const { code, output } = await terminal.type(`npx capstan explain ${command}`);
    assert.equal(code, 1, command);
    assert.match(output, expected);
  }
});
