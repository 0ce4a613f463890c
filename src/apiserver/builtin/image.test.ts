import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { imageTag } from "./image.ts";

suite("the tag of an image", () => {
  const cases: readonly (readonly [reference: string, tag: string])[] = [
    ["nginx", "latest"],
    ["nginx:1.27", "1.27"],
    ["registry.example.com:5000/team/app", "latest"],
    ["registry.example.com:5000/team/app:v1", "v1"],
    ["localhost/app", "latest"],
    ["Registry/app", "latest"],
    ["app@sha256:0123456789012345678901234567890123456789012345678901234567890123", ""],
    ["app:v1@sha256:0123456789012345678901234567890123456789012345678901234567890123", "v1"],
    ["App", ""],
    ["", ""],
    ["a b", ""],
  ];
  for (const [reference, tag] of cases) {
    test(`${JSON.stringify(reference)} has ${JSON.stringify(tag)}`, () => assert.equal(imageTag(reference), tag));
  }
});
