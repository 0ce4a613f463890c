import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WholeBody } from "../http/body.ts";
import type { HttpResponse } from "../http/message.ts";
import { createManager } from "../runtime/manager.ts";
import { createWorld } from "../testing/world.ts";
import { type Part, routes } from "./routes.ts";

const answer = (text: string): HttpResponse => ({ status: 200, headers: {}, body: new WholeBody(text) });
const now =
  (path: string): Part =>
  ({ target }) =>
    target === path ? answer(`now ${path}`) : undefined;
const later =
  (path: string): Part =>
  async ({ target }) =>
    target === path ? answer(`later ${path}`) : undefined;

function served(parts: readonly Part[]): (target: string) => HttpResponse | Promise<HttpResponse> {
  const world = createWorld();
  const handler = routes(createManager({ env: world.env, client: world.client }), world.env, parts);
  return (target) => handler({ method: "GET", target, headers: {} });
}

async function textOf(response: HttpResponse | Promise<HttpResponse>): Promise<string> {
  const { status, body } = await response;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return `${status} ${Buffer.concat(chunks).toString()}`;
}

describe("the HTTP port", () => {
  test("answers in the same turn where the part that is asked can", () => {
    const response = served([now("/a"), later("/b")])("/a");
    assert.ok(!(response instanceof Promise));
    assert.equal(response.status, 200);
  });

  const cases: readonly (readonly [string, string, string])[] = [
    ["the first part that answers wins", "/a", "200 now /a"],
    ["a part that has to be waited for gives way to the next", "/c", "200 now /c"],
    ["the last part is asked too", "/d", "200 later /d"],
    ["what nobody answers is not found", "/e", "404 not found\n"],
    ["metrics are served before any part", "/metrics", "200 "],
  ];
  for (const [name, path, expected] of cases)
    test(name, async () => {
      const ask = served([now("/a"), later("/b"), now("/c"), now("/a"), later("/d"), now("/metrics")]);
      assert.ok((await textOf(ask(path))).startsWith(expected));
    });
});
