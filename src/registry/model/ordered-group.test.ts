import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OrderedGroup } from "./ordered-group.ts";

interface Member {
  readonly order: number;
}

test("a group lists whoever came and did not go, in order, whenever it is asked", () => {
  const members: readonly Member[] = Array.from({ length: 40 }, (_, order) => ({ order }));
  const step = fc.record({ index: fc.nat({ max: members.length - 1 }), isRead: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const group = new OrderedGroup<Member>((a, b) => a.order - b.order);
      const expected = new Set<Member>();
      for (const { index, isRead } of steps) {
        const member = members[index] as Member;
        if (expected.delete(member)) group.delete(member);
        else {
          expected.add(member);
          group.add(member);
        }
        assert.equal(group.size, expected.size);
        if (!isRead) continue;
        assert.deepEqual(
          group.list().map(({ order }) => order),
          [...expected].map(({ order }) => order).sort((a, b) => a - b),
        );
      }
    }),
  );
});
