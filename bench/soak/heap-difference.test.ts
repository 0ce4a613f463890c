import assert from "node:assert/strict";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { getHeapSnapshot } from "node:v8";
import { growthBetween, type HeapSnapshot } from "./heap-difference.ts";

class Hoard {
  readonly byName = new Map<string, { readonly text: string }>();
}

test("what has grown most is found under the name of the class that holds it", async () => {
  const hoard = new Hoard();
  const before = await takeSnapshot();
  for (let index = 0; index < 5_000; index++)
    hoard.byName.set(`name-${index}`, { text: Buffer.alloc(500, String(index)).toString() });
  const after = await takeSnapshot();
  const grown = growthBetween(before, after).filter(({ holder }) => holder.startsWith("Hoard byName:Map table:"));
  assert.equal(grown[0]?.holder, "Hoard byName:Map table: []:Object text:(string)");
  assert.equal(grown[0]?.count, 5_000);
  assert.ok(grown[0].bytes >= 2_500_000, `${grown[0].bytes} bytes`);
  assert.equal(hoard.byName.size, 5_000);
});

const takeSnapshot = async (): Promise<HeapSnapshot> => (await json(getHeapSnapshot())) as HeapSnapshot;
