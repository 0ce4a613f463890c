import assert from "node:assert/strict";
import { test } from "node:test";
import { type Condition, findCondition, isConditionTrue, removeCondition, setCondition } from "./condition.ts";

const morning = new Date("2024-01-01T08:00:00.500Z");
const evening = new Date("2024-01-01T20:00:00Z");
const ready: Condition = {
  type: "Ready",
  status: "True",
  reason: "AllGood",
  message: "everything runs",
  observedGeneration: 1,
  lastTransitionTime: "2024-01-01T08:00:00Z",
};
const { lastTransitionTime: _time, ...state } = ready;

test("a new condition starts now, in whole seconds", () => {
  assert.deepEqual(setCondition(undefined, state, morning), [ready]);
});

test("the transition time stays while the status stays", () => {
  const [changed] = setCondition([ready], { ...state, message: "still runs", observedGeneration: 2 }, evening);
  assert.equal(changed?.lastTransitionTime, "2024-01-01T08:00:00Z");
  assert.equal(changed?.message, "still runs");
  assert.equal(changed?.observedGeneration, 2);
});

test("the transition time moves with the status", () => {
  const [changed] = setCondition([ready], { ...state, status: "False", reason: "Broken" }, evening);
  assert.equal(changed?.lastTransitionTime, "2024-01-01T20:00:00Z");
});

test("nothing new gives back the very same list, so that nothing is written", () => {
  const list = [ready];
  assert.equal(setCondition(list, state, evening), list);
});

test("the others and their order are kept", () => {
  const other: Condition = { ...ready, type: "Progressing" };
  const list = setCondition([other, ready], { ...state, status: "False" }, evening);
  assert.deepEqual(
    list.map(({ type }) => type),
    ["Progressing", "Ready"],
  );
  assert.equal(list[0], other);
});

test("a condition is found, asked and removed by its type", () => {
  assert.equal(findCondition([ready], "Ready"), ready);
  assert.equal(isConditionTrue([ready], "Ready"), true);
  assert.equal(isConditionTrue(undefined, "Ready"), false);
  assert.deepEqual(removeCondition([ready], "Ready"), []);
  const list = [ready];
  assert.equal(removeCondition(list, "Other"), list);
});
