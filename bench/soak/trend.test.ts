import assert from "node:assert/strict";
import { test } from "node:test";
import { median, type Sample, trendsOf } from "./trend.ts";

const flat: Sample = {
  minute: 0,
  rssMb: 140,
  heapMb: 40,
  fileDescriptors: 40,
  handles: 20,
  apiMb: 4,
  storeMb: 1,
};
const run = (at: (index: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 40 }, (_, index) => ({ ...flat, minute: index, ...at(index) }));

const cases: readonly { readonly name: string; readonly samples: readonly Sample[]; readonly grows: string }[] = [
  { name: "what stays as it is does not grow", samples: run(() => ({})), grows: "" },
  {
    name: "a heap that gains a little with every sample does",
    samples: run((i) => ({ heapMb: 40 + i / 8 })),
    grows: "heapMb",
  },
  { name: "one look at a bad moment is not growth", samples: run((i) => ({ heapMb: i === 39 ? 90 : 40 })), grows: "" },
  { name: "noise is not growth", samples: run((i) => ({ rssMb: 140 + ((i * 7) % 10) })), grows: "" },
  {
    name: "a file that is never closed is",
    samples: run((i) => ({ fileDescriptors: 40 + i })),
    grows: "fileDescriptors",
  },
  { name: "the audit trail may grow", samples: run((i) => ({ storeMb: i })), grows: "" },
  { name: "what shrinks does not grow", samples: run((i) => ({ rssMb: 200 - i })), grows: "" },
];
for (const { name, samples, grows } of cases)
  test(name, () => {
    const growing = trendsOf(samples).filter((trend) => trend.grows);
    assert.equal(growing.map(({ measure }) => measure).join(), grows);
  });

test("the median of an even number lies between the middle two", () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([9, 1, 2]), 2);
});
