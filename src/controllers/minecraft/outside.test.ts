import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpHandler, HttpResponse } from "../../http/message.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import { createOutside, maxJsonBytes, OutsideError, type OutsideReason, retryAfterMs } from "./outside.ts";

const answer = (status: number, body: string | Uint8Array, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers,
  body: (async function* () {
    yield Buffer.from(body);
  })(),
});

function outsideOf(fetch: HttpHandler) {
  const env = manualEnv();
  return { env, outside: createOutside({ env, fetch, userAgent: "test" }) };
}

const isReason =
  (reason: OutsideReason) =>
  (error: unknown): boolean =>
    error instanceof OutsideError && error.reason === reason;

test("what has not changed is not sent again", async () => {
  const asked: (string | undefined)[] = [];
  const { outside } = outsideOf(async ({ headers }) => {
    asked.push(headers["if-none-match"]);
    return headers["if-none-match"] === '"1"' ? answer(304, "") : answer(200, '{"a":1}', { etag: '"1"' });
  });
  assert.deepEqual(await outside.json("https://x/y"), { a: 1 });
  assert.deepEqual(await outside.json("https://x/y"), { a: 1 });
  assert.deepEqual(asked, [undefined, '"1"']);
});

test("429 with Retry-After: the host is left alone for just that long, other hosts are not", async () => {
  let calls = 0;
  const { env, outside } = outsideOf(async ({ target }) => {
    calls++;
    return target.includes("busy") && calls === 1 ? answer(429, "", { "retry-after": "90" }) : answer(200, "1");
  });
  await assert.rejects(
    outside.json("https://busy/"),
    (error) => isReason("RateLimited")(error) && (error as OutsideError).retryAfterMs === 90_000,
  );
  await env.advance(1_000);
  await assert.rejects(
    outside.json("https://busy/"),
    (error) => isReason("RateLimited")(error) && (error as OutsideError).message === "busy answered 429",
    "in the same words, whenever it is asked",
  );
  assert.equal(calls, 1, "the second question was not asked");
  assert.equal(await outside.json("https://idle/"), 1);
  await env.advance(89_000);
  assert.equal(await outside.json("https://busy/"), 1);
});

test("a host that keeps failing is asked less and less often", async () => {
  const { env, outside } = outsideOf(async () => answer(500, ""));
  const pauses: number[] = [];
  for (let round = 0; round < 4; round++) {
    const error = await outside.json("https://x/").catch((caught: unknown) => caught);
    assert.ok(error instanceof OutsideError && error.retryAfterMs !== undefined);
    pauses.push(error.retryAfterMs);
    await env.advance(error.retryAfterMs);
  }
  assert.ok(
    pauses.every((pause, index) => index === 0 || pause > (pauses[index - 1] ?? 0)),
    pauses.join(),
  );
});

test("silence ends at the time limit", async () => {
  const { env, outside } = outsideOf(
    ({ signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
  );
  const asked = assert.rejects(outside.json("https://x/"), isReason("TimedOut"));
  await env.advance(30_000);
  await asked;
});

test("an answer without end is cut off", async () => {
  const chunk = Buffer.alloc(1024 * 1024, "1");
  let sent = 0;
  const { outside } = outsideOf(async () => ({
    status: 200,
    headers: {},
    body: (async function* () {
      while (true) {
        sent += chunk.length;
        yield chunk;
      }
    })(),
  }));
  await assert.rejects(outside.json("https://x/"), isReason("TooLarge"));
  assert.ok(sent <= maxJsonBytes + 2 * chunk.length);
});

test("a refusal without end is not read to its end", async () => {
  let sent = 0;
  const { outside } = outsideOf(async () => ({
    status: 403,
    headers: {},
    body: (async function* () {
      while (true) {
        sent++;
        yield Buffer.alloc(16 * 1024);
      }
    })(),
  }));
  await assert.rejects(outside.json("https://x/"), isReason("Refused"));
  assert.ok(sent < 10, `${sent} pieces`);
});

for (const [name, response, reason] of [
  ["not JSON", answer(200, "<html>"), "Malformed"],
  ["a redirect where none is expected", answer(302, "", { location: "https://169.254.169.254/" }), "Refused"],
  ["not there", answer(404, ""), "NotFound"],
  ["not allowed", answer(403, ""), "Refused"],
] as const)
  test(`${name} is ${reason}`, async () => {
    const { outside } = outsideOf(async () => response);
    await assert.rejects(outside.json("https://x/"), isReason(reason));
  });

test("at most four questions at a time go to one host", async () => {
  let active = 0;
  let most = 0;
  const { outside } = outsideOf(async () => {
    active++;
    most = Math.max(most, active);
    await new Promise((resolve) => setImmediate(resolve));
    active--;
    return answer(200, "1");
  });
  await Promise.all(Array.from({ length: 20 }, (_, index) => outside.json(`https://x/${index}`)));
  assert.equal(most, 4);
});

test("who waits for a busy host is not sent to it any more once it has asked for patience", async () => {
  let calls = 0;
  const { outside } = outsideOf(async () => {
    calls++;
    await new Promise((resolve) => setImmediate(resolve));
    return answer(429, "", { "retry-after": "60" });
  });
  const asked = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => outside.json(`https://x/${index}`)));
  assert.ok(asked.every(({ status }) => status === "rejected"));
  assert.equal(calls, 4);
});

test("a question that was cancelled while it waited is not asked, and its place is free", async () => {
  const stop = new AbortController();
  const asked: string[] = [];
  const { outside } = outsideOf(async ({ target }) => {
    asked.push(target);
    await new Promise((resolve) => setImmediate(resolve));
    return answer(200, "1");
  });
  const first = Array.from({ length: 4 }, (_, index) => outside.json(`https://x/${index}`));
  const cancelled = assert.rejects(outside.json("https://x/cancelled", { signal: stop.signal }));
  const last = outside.json("https://x/last");
  stop.abort();
  await Promise.all([...first, cancelled, last]);
  assert.deepEqual(asked, ["https://x/0", "https://x/1", "https://x/2", "https://x/3", "https://x/last"]);
});

for (const [header, expected] of [
  ["7", 7_000],
  ["Thu, 01 Jan 2026 00:02:00 GMT", 120_000],
  ["999999", 3_600_000],
  ["-5", undefined],
  ["soon", undefined],
  [undefined, undefined],
] as const)
  test(`Retry-After ${header} is ${expected === undefined ? "nothing" : `${expected} ms`}`, () =>
    assert.equal(retryAfterMs(header, new Date("2026-01-01T00:00:00Z")), expected));
