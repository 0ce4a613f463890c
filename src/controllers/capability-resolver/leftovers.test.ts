import assert from "node:assert/strict";
import { test } from "node:test";
import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { Write } from "../../runtime/write.ts";
import { act } from "./act.ts";
import { evaluate } from "./evaluate.ts";
import { game, manifest, provides, requires, world } from "./example-world.ts";
import { reduce } from "./reduce.ts";
import { resolveGame } from "./resolution.ts";

/** A world that is made anew under its old name finds bindings of the one before, until somebody has removed them. */
const modules = [manifest("clock", [provides("time.source")]), manifest("physics", [], [requires("time.source")])];
const before = world("north");
const after = { ...before, metadata: { ...before.metadata, uid: "uid-of-the-second" } };

function decide(subject: typeof before, bindings: readonly CapabilityBinding[]) {
  const definition = game(["clock", "physics"]);
  const found = new Map(modules.map((module) => [module.metadata.name, module]));
  const resolution = resolveGame(definition, (name) => found.get(name));
  const decision = evaluate({ world: subject, game: { definition, resolution }, bindings });
  assert.ok(decision.kind === "Resolve");
  return decision;
}

const leftovers = decide(before, []).plan.apply.map(
  (binding) =>
    ({ ...binding, metadata: { ...binding.metadata, uid: `uid-${binding.metadata.name}` } }) as CapabilityBinding,
);

/** Answers to deletes as given, and writes down in which order everything came. */
function recorder(isGoneAtOnce: boolean): { readonly write: Write; readonly done: string[] } {
  const done: string[] = [];
  const write = {
    async apply(_: unknown, binding: CapabilityBinding) {
      done.push(`apply ${binding.metadata.name}`);
      return { ok: true, object: binding };
    },
    async delete(_: unknown, binding: CapabilityBinding) {
      done.push(`delete ${binding.metadata.name} ${binding.metadata.uid}`);
      return isGoneAtOnce ? { ok: true, gone: true } : { ok: true, gone: false, object: binding };
    },
  } as unknown as Write;
  return { write, done };
}

test("what a deleted world of the same name left behind is removed first, and the world has its own at once", async () => {
  const { plan } = decide(after, leftovers);
  const { write, done } = recorder(true);
  const outcome = await act(plan, write);
  const name = leftovers[0]?.metadata.name;
  assert.deepEqual(done, [`delete ${name} uid-${name}`, `apply ${name}`]);
  assert.deepEqual(outcome, { applied: 1, removed: 1, refused: [] });
});

test("a world does not say Running while what was left behind is still there", async () => {
  const decision = decide(after, leftovers);
  const { write, done } = recorder(false);
  const outcome = await act(decision.plan, write);
  assert.equal(done.filter((step) => step.startsWith("apply")).length, 0);
  const status = reduce(after, decision, new Date(0), outcome);
  assert.equal(status.phase, "Error");
  assert.match(status.message ?? "", /BindingsRefused: cb-north-.*still being removed/);
});
