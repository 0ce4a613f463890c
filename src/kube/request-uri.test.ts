import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseRequestUri } from "./request-uri.ts";

test("a URL is taken apart", () => {
  assert.deepEqual(parseRequestUri("HTTPS://user:pw@example.com:8080/a%20b?c=d"), {
    scheme: "https",
    opaque: "",
    hostname: "example.com",
    port: "8080",
    host: "example.com:8080",
    escapedPath: "/a%20b",
    rawQuery: "c=d",
  });
  assert.equal(parseRequestUri("http://[::1]:80/")?.hostname, "::1");
  assert.equal(parseRequestUri("mailto:a@b")?.opaque, "a@b");
});

const refused = ["", "relative", "http://a b", "http://h:port", "/%zz", ":x", "1http://x", "http://[::1", "a\u0001b:"];
for (const text of refused) {
  test(`${JSON.stringify(text)} is no URL for a request`, () => assert.equal(parseRequestUri(text), undefined));
}

test("no text makes it throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseRequestUri(text)));
});
