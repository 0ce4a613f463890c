import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { exampleInstance } from "../storage/log-cases.ts";
import { Entry } from "./entry.ts";
import { placeOf } from "./instance.ts";
import { PlaceIndex } from "./place-index.ts";

const entry = (id: string, owner: string): Entry =>
  new Entry({ ...exampleInstance, owner, target: { ...exampleInstance.target, id } }, 0);
const placeOfOwner = (owner: string): string => placeOf(owner, exampleInstance.target);

describe("who was last at a place", () => {
  test("the last one who came, until that one goes", () => {
    const index = new PlaceIndex(0);
    const [first, second] = [entry("1", "a"), entry("2", "a")];
    index.add(first);
    index.add(second);
    assert.equal(index.at(placeOfOwner("a")), second);
    index.delete(first);
    assert.equal(index.at(placeOfOwner("a")), second);
    index.delete(second);
    assert.equal(index.at(placeOfOwner("a")), undefined);
  });

  test("two places of one hash are two places", () => {
    // With FNV's own seed these two words have the same hash, and so has everything that begins with them and goes on alike.
    const [one, other] = ["costarring", "liquid"] as const;
    const index = new PlaceIndex(0x811c9dc5);
    const [first, second] = [entry("1", one), entry("2", other)];
    index.add(first);
    assert.equal(index.at(placeOfOwner(other)), undefined);
    index.add(second);
    assert.equal(index.at(placeOfOwner(one)), first);
    assert.equal(index.at(placeOfOwner(other)), second);
    index.delete(first);
    assert.equal(index.at(placeOfOwner(one)), undefined);
    assert.equal(index.at(placeOfOwner(other)), second);
  });
});
