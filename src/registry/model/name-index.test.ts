import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Entry } from "./entry.ts";
import { defaultExpiryLimits } from "./expiry.ts";
import { type Instance, registered } from "./instance.ts";
import { NameGroup } from "./name-index.ts";
import type { ServiceTarget } from "./service.ts";

const limits = { ...defaultExpiryLimits, missingAfterMs: 90, deregisterAfterMs: 600 };
const tool = { serviceType: "tool-invoker", serviceSubType: null, languageName: null } as const;

function entryOf(order: number, own: Partial<ServiceTarget & Pick<Instance, "pinged">> = {}): Entry {
  const { pinged = false, ...target } = own;
  return new Entry(instanceOf(order, target, pinged), 0);
}

const instanceOf = (order: number, own: Partial<ServiceTarget>, pinged: boolean): Instance => ({
  target: {
    id: `id-${order}`,
    serviceName: "x",
    host: "h",
    port: order,
    ...tool,
    languageType: null,
    languageSubType: null,
    ...own,
  },
  owner: "",
  namespace: null,
  registeredAtMs: 0,
  order,
  report: "HEALTHY",
  reason: "",
  pinged,
  missing: false,
  presence: registered,
  states: [],
  lastFailureAtMs: null,
});

function groupOf(...entries: Entry[]): NameGroup {
  const group = new NameGroup();
  for (const entry of entries) group.add(entry);
  return group;
}

const idsOf = (group: NameGroup, nowMs = 0): readonly string[] | undefined => {
  const json = group.whole(nowMs, limits)?.json;
  return json === undefined ? undefined : (JSON.parse(json) as ServiceTarget[]).map(({ id }) => id);
};

describe("the services of a name as one text", () => {
  test("are there in order, and follow whoever comes and goes", () => {
    const [first, second, third] = [entryOf(1), entryOf(2), entryOf(3)];
    const group = groupOf(first, third);
    assert.deepEqual(idsOf(group), ["id-1", "id-3"]);
    group.add(second);
    assert.deepEqual(idsOf(group), ["id-1", "id-2", "id-3"]);
    group.delete(first);
    assert.deepEqual(idsOf(group), ["id-2", "id-3"]);
    assert.equal(first.instance.target.port, 1);
  });

  test("stay the same text until something changes", () => {
    const group = groupOf(entryOf(1), entryOf(2));
    assert.equal(group.whole(0, limits), group.whole(5, limits));
  });

  test("are not one text when they are of different kinds, or very many", () => {
    assert.equal(idsOf(groupOf(entryOf(1), entryOf(2, { serviceType: "resource-provider" }))), undefined);
    const many = Array.from({ length: 65 }, (_, order) => entryOf(order));
    assert.equal(idsOf(groupOf(...many)), undefined);
    assert.equal(idsOf(groupOf(...many.slice(1)))?.length, 64);
  });

  test("are not one text from the very millisecond at which one has been silent for too long", () => {
    const group = groupOf(entryOf(1), entryOf(2, { pinged: true }));
    assert.equal(idsOf(group, 599)?.length, 2);
    assert.equal(idsOf(group, 600), undefined);
  });

  test("are one text again when the silent one is heard", () => {
    const silent = entryOf(2, { pinged: true });
    const group = groupOf(entryOf(1), silent);
    assert.equal(idsOf(group, 700), undefined);
    silent.heardAtMs = 700;
    assert.equal(idsOf(group, 1_299)?.length, 2);
    assert.equal(idsOf(group, 1_300), undefined);
  });

  test("begin to expire with the first heartbeat", () => {
    const entry = entryOf(1);
    const group = groupOf(entry);
    assert.equal(idsOf(group, 100)?.length, 1);
    entry.become(instanceOf(1, {}, true));
    entry.heardAtMs = 100;
    assert.equal(idsOf(group, 699)?.length, 1);
    assert.equal(idsOf(group, 700), undefined);
  });

  test("say whether every character is one byte", () => {
    assert.equal(groupOf(entryOf(1)).whole(0, limits)?.isAscii, true);
    assert.equal(groupOf(entryOf(1, { host: "höst" })).whole(0, limits)?.isAscii, false);
  });
});
