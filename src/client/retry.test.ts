import assert from "node:assert/strict";
import { test } from "node:test";
import { apiErrorFrom } from "./api-error.ts";
import { ConnectionError, MalformedAnswerError } from "./connection-error.ts";
import { defaultRetryPolicy, parseRetryAfter, retryDelayMs } from "./retry.ts";

const api = (code: number, retryAfterSeconds?: number): unknown => apiErrorFrom("GET /x", code, "", retryAfterSeconds);
const broken = new ConnectionError("x", { reason: "Broken", mayHaveBeenApplied: true });
const refused = new ConnectionError("x", { reason: "Refused", mayHaveBeenApplied: false });
const budget = apiErrorFrom("POST /x", 429, {
  kind: "Status",
  code: 429,
  details: { causes: [{ reason: "DisruptionBudget" }] },
});

const cases: readonly [name: string, error: unknown, idempotent: boolean, others: boolean][] = [
  ["a refused connection", refused, true, true],
  ["a broken connection", broken, true, false],
  [
    "a certificate that is not trusted",
    new ConnectionError("x", { reason: "TlsRejected", mayHaveBeenApplied: false }),
    false,
    false,
  ],
  ["429", api(429), true, true],
  ["429 with a Retry-After", api(429, 1), true, true],
  ["429 of a disruption budget", budget, false, false],
  ["502", api(502), true, false],
  ["503", api(503), true, false],
  ["503 with a Retry-After", api(503, 1), true, false],
  ["504", api(504), true, false],
  ["500", api(500), false, false],
  ["500 with a Retry-After", api(500, 1), true, false],
  ["404", api(404), false, false],
  ["409", api(409), false, false],
  ["410", api(410), false, false],
  ["422", api(422), false, false],
  ["an answer that is not JSON", new MalformedAnswerError("x"), false, false],
  ["a Retry-After longer than anybody should wait", api(429, 3600), false, false],
];

for (const [name, error, idempotent, others] of cases)
  test(`${name}: repeated ${idempotent ? "when idempotent" : "never"}${others ? ", and otherwise too" : ""}`, () => {
    const ask = (repeatable: boolean): boolean =>
      retryDelayMs(defaultRetryPolicy, { error, repeatable, attempt: 1, elapsedMs: 0, random: 0.5 }) !== undefined;
    assert.deepEqual([ask(true), ask(false)], [idempotent, others]);
  });

test("delays double up to a limit, with chance in the upper half", () => {
  const policy = { ...defaultRetryPolicy, maxAttempts: 20 };
  const delays = (random: number): (number | undefined)[] =>
    [1, 2, 3, 10].map((attempt) =>
      retryDelayMs(policy, { error: broken, repeatable: true, attempt, elapsedMs: 0, random }),
    );
  assert.deepEqual(delays(0), [50, 100, 200, 2_500]);
  assert.deepEqual(delays(1), [100, 200, 400, 5_000]);
});

test("attempts and time are bounded", () => {
  const failed = { error: broken, repeatable: true, random: 0 };
  assert.equal(retryDelayMs(defaultRetryPolicy, { ...failed, attempt: 5, elapsedMs: 0 }), undefined);
  assert.equal(retryDelayMs(defaultRetryPolicy, { ...failed, attempt: 1, elapsedMs: 30_000 }), undefined);
});

test("the server's wish is the least that is waited", () => {
  const wait = retryDelayMs(defaultRetryPolicy, {
    error: api(429, 3),
    repeatable: false,
    attempt: 1,
    elapsedMs: 0,
    random: 0.5,
  });
  assert.equal(wait, 3_050);
});

test("Retry-After is read as seconds and as a date", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  assert.equal(parseRetryAfter("5", now), 5);
  assert.equal(parseRetryAfter(" 0 ", now), 0);
  assert.equal(parseRetryAfter("Thu, 01 Jan 2026 00:00:09 GMT", now), 9);
  assert.equal(parseRetryAfter("Thu, 01 Jan 2025 00:00:09 GMT", now), 0);
  assert.equal(parseRetryAfter("soon", now), undefined);
  assert.equal(parseRetryAfter(undefined, now), undefined);
});
