import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  contains,
  difference,
  emptySet,
  equalSets,
  type FieldSet,
  has,
  intersection,
  isEmpty,
  leaves,
  type Path,
  pathsOf,
  recursiveDifference,
  setOf,
  sizeOf,
  union,
} from "./field-set.ts";
import { readFieldsV1, writeFieldsV1 } from "./fields-v1.ts";

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'k:{"name":"y"}', "v:1", "v:10", "i:0");
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });
const anySet: fc.Arbitrary<FieldSet> = paths.map((list) => setOf(...list));

const key = (at: Path): string => at.join("/");
const keysOf = (set: FieldSet): readonly string[] => pathsOf(set).map(key).sort();
const under = (at: Path, parents: FieldSet): boolean => at.some((_, index) => has(parents, at.slice(0, index + 1)));

describe("a set of fields is a set of its paths", () => {
  test("it has what was put in, counted once", () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOf(...list);
        assert.deepEqual(keysOf(set), [...new Set(list.map(key))].sort());
        assert.equal(sizeOf(set), pathsOf(set).length);
        assert.equal(isEmpty(set), list.length === 0);
      }),
    );
  });

  test("union, intersection and difference are those of the paths", () => {
    fc.assert(
      fc.property(anySet, anySet, (left, right) => {
        const [inLeft, inRight] = [new Set(keysOf(left)), new Set(keysOf(right))];
        assert.deepEqual(keysOf(union(left, right)), [...inLeft.union(inRight)].sort());
        assert.deepEqual(keysOf(intersection(left, right)), [...inLeft.intersection(inRight)].sort());
        assert.deepEqual(keysOf(difference(left, right)), [...inLeft.difference(inRight)].sort());
        assert.equal(contains(left, right), inRight.isSubsetOf(inLeft));
        assert.equal(equalSets(left, right), inRight.isSubsetOf(inLeft) && inLeft.isSubsetOf(inRight));
      }),
    );
  });

  test("a recursive difference takes away what lies below, too", () => {
    fc.assert(
      fc.property(anySet, anySet, (left, right) => {
        const rest = pathsOf(left).filter((at) => !under(at, right));
        assert.deepEqual(keysOf(recursiveDifference(left, right)), rest.map(key).sort());
      }),
    );
  });

  test("leaves have nothing below them", () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const all = pathsOf(set);
        const lowest = all.filter(
          (at) => !all.some((other) => other.length > at.length && key(other).startsWith(`${key(at)}/`)),
        );
        assert.deepEqual(keysOf(leaves(set)), lowest.map(key).sort());
      }),
    );
  });

  test("results share no node that could be empty", () => {
    const hasHole = (set: FieldSet): boolean =>
      [...(set.children?.values() ?? [])].some((child) => isEmpty(child) || hasHole(child));
    fc.assert(
      fc.property(anySet, anySet, (left, right) => {
        for (const set of [difference(left, right), recursiveDifference(left, right), intersection(left, right)]) {
          assert.equal(hasHole(set), false);
        }
      }),
    );
  });

  test("writing and reading it changes nothing", () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const text = JSON.stringify(writeFieldsV1(set));
        const read = readFieldsV1(JSON.parse(text));
        assert.ok(read.kind === "Read" && equalSets(read.set, set));
        assert.equal(JSON.stringify(writeFieldsV1(read.set)), text);
      }),
    );
  });
});

test("the whole object is never owned", () => {
  assert.equal(setOf([]), emptySet);
});

test("paths are listed level by level, as conflicts are told", () => {
  const set = setOf(["f:b"], ["f:a"], ["f:a", "f:c"], ["v:10"], ["v:9"]);
  assert.deepEqual(pathsOf(set).map(key), ["f:a", "f:b", "v:9", "v:10", "f:a/f:c"]);
});
