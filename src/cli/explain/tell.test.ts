import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerReport } from "../../controllers/version-solver/report.ts";
import type { Story } from "./story.ts";
import { tell } from "./tell.ts";

const plain: Story = {
  kind: "PaperMCServer",
  namespace: "games",
  name: "survival",
  phase: "Ready",
  message: "",
  conditions: [],
  events: [],
  audit: [],
};

const condition = (message: string) => ({
  type: "Ready",
  status: "True" as const,
  reason: "Fine",
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const report = (changes: readonly string[]): ServerReport => ({
  name: "survival",
  strategy: "auto",
  current: "1.20.6",
  chosen: "1.20.6",
  newest: "1.21.4",
  blocked: true,
  message: "Plugin 'market' cannot follow",
  unblockedBy: [{ changes, reaches: "1.21.4-232" }],
});

test("an object of which nothing is known has one line", () => {
  assert.equal(tell(plain), "PaperMCServer games/survival: Ready\n");
  const { namespace: _, ...clusterScoped } = plain;
  assert.equal(tell(clusterScoped), "PaperMCServer survival: Ready\n");
});

test("a message that a condition repeats is told once, and wide tells since when", () => {
  const story = { ...plain, message: "all is well", conditions: [condition("all is well")] };
  assert.equal(tell(story).split("all is well").length - 1, 1);
  assert.match(tell({ ...story, message: "almost" }), /^ {2}almost$/m);
  assert.match(tell(story, true), /all is well, since 2026-01-01T00:00:00Z/);
});

const remedies: readonly (readonly [changes: readonly string[], said: string])[] = [
  [["drop:plugin/market"], "without the plugin market it reaches 1.21.4-232"],
  [["pin:server/survival=1.21.4"], "with the server survival pinned to 1.21.4 it reaches 1.21.4-232"],
  [["unpin:plugin/market"], "with the plugin market no longer pinned it reaches 1.21.4-232"],
  [["undelay:server/survival"], "with no updateDelay of the server survival it reaches 1.21.4-232"],
  [
    ["drop:plugin/a", "unpin:server/b"],
    "without the plugin a and with the server b no longer pinned it reaches 1.21.4-232",
  ],
];
for (const [changes, said] of remedies)
  test(`what would help is a sentence: ${said}`, () => {
    const text = tell({ ...plain, versions: report(changes), proven: true });
    assert.ok(text.includes(`  to mend it: ${said}\n`), text);
    assert.match(text, /it is proven that nothing better fits/);
  });

test("an answer that the time did not suffice to prove says so", () => {
  assert.match(tell({ ...plain, versions: report([]), proven: false }), /not proven: the time ran out/);
});

test("who did what and what happened are told in their order, each on its line whatever is in it", () => {
  const hostile = "x\u001b[2J\ny";
  const text = tell({
    ...plain,
    conditions: [condition(hostile)],
    audit: [{ time: "t1", actor: hostile, verb: "approve", result: "Approved" }],
    events: [{ time: "t2", type: "Warning", reason: "Odd", message: hostile, count: 3 }],
  });
  assert.doesNotMatch(text, /\u001b/);
  assert.deepEqual(text.split("\n").slice(1), [
    "  Ready=True (Fine) x [2J y",
    "",
    "Who did what:",
    "  t1  x [2J y  approve: Approved",
    "",
    "What happened:",
    "  t2  Warning  Odd (3 times): x [2J y",
    "",
  ]);
});
