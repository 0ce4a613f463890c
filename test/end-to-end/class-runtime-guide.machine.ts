import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stepsOf } from "../documents/commands.ts";
import { hasBash, hasKubectl, openTerminal } from "../documents/terminal.ts";
import { eventually } from "./class-runtime-world.ts";
import { startEmbedded } from "./embedded.ts";

const guide = "docs/guides/class-runtimes.md";

test("the guide for OaaS operators can be followed word by word", {
  skip: hasBash && hasKubectl ? false : "bash or kubectl is not installed",
  timeout: 300_000,
}, async (context) => {
  const { dataDir, plane } = await startEmbedded(context);
  writeFileSync(join(dataDir, "ready.json"), JSON.stringify({ ...plane, pid: process.pid }));
  const terminal = openTerminal(context, dataDir);
  const steps = stepsOf(readFileSync(guide, "utf8"));
  assert.ok(steps.length >= 15, `${steps.length} steps`);
  const said = new Map<string, string>();
  for (const { text, line } of steps) {
    const { code, output } = await terminal.type(text);
    assert.equal(code, 0, `${guide}:${line}: ${text}\n${output}`);
    said.set(text, output);
  }
  const printed = (part: string): string => [...said].find(([command]) => command.includes(part))?.[1] ?? "";
  assert.match(printed("get crt -o wide"), /example-record +available/);
  assert.match(printed("predicted_url"), /http:\/\/example-record-fn-1\.default\.svc\.cluster\.local\//);
  assert.match(printed("get deployments,services"), /deployment\.apps\/example-record-odgm/);
  assert.match(printed('type=="NfrEnforced"'), /replicas 3 is not applied yet/);
  // Events are told behind the work's back, a moment later.
  const [events = ""] = [...said.keys()].filter((command) => command.includes("get events"));
  await eventually(
    () => terminal.type(events),
    ({ output }) => assert.match(output, /NFRSkippedStability/),
  );
  assert.equal(printed("/healthz"), "ok");
});
