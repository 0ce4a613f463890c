import assert from "node:assert/strict";
import { test } from "node:test";
import * as errors from "./api-error.ts";

const { apiErrorFrom } = errors;
const questions = Object.entries(errors).filter(([name]) => name.startsWith("is")) as [
  string,
  (error: unknown) => boolean,
][];
const holding = (error: unknown): string[] => questions.filter(([, ask]) => ask(error)).map(([name]) => name);

const status = (code: number, reason: string, more: object = {}): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "no",
  reason,
  code,
  ...more,
});
const cause = (reason: string): object => ({ details: { name: "x", causes: [{ reason }] } });

const cases: readonly [name: string, code: number, body: unknown, answers: readonly string[]][] = [
  ["a missing object", 404, status(404, "NotFound", { details: { name: "x" } }), ["isNotFound"]],
  [
    "a missing kind of a built-in group",
    404,
    status(404, "NotFound", { details: {} }),
    ["isKindMissing", "isNotFound"],
  ],
  ["a missing group, in plain text", 404, "404 page not found\n", ["isKindMissing", "isNotFound"]],
  ["an old version", 409, status(409, "Conflict"), ["isConflict"]],
  [
    "somebody else's field",
    409,
    status(409, "Conflict", cause("FieldManagerConflict")),
    ["isApplyConflict", "isConflict"],
  ],
  ["a taken name", 409, status(409, "AlreadyExists"), ["isAlreadyExists"]],
  ["an invalid object", 422, status(422, "Invalid"), ["isInvalid"]],
  ["no permission", 403, status(403, "Forbidden"), ["isForbidden"]],
  [
    "a namespace that ends",
    403,
    status(403, "Forbidden", cause("NamespaceTerminating")),
    ["isForbidden", "isNamespaceTerminating"],
  ],
  ["a forgotten version", 410, status(410, "Expired"), ["isExpired", "isGone"]],
  ["gone", 410, status(410, "Gone"), ["isGone"]],
  ["too much at once", 429, status(429, "TooManyRequests"), ["isTooManyRequests"]],
  [
    "a budget",
    429,
    status(429, "TooManyRequests", cause("DisruptionBudget")),
    ["isDisruptionBudgetReached", "isTooManyRequests"],
  ],
  ["ask again", 500, status(500, "ServerTimeout"), ["isServerTimeout"]],
  [
    "a lagging replica",
    504,
    status(504, "Timeout", cause("ResourceVersionTooLarge")),
    ["isResourceVersionTooLarge", "isTimeout"],
  ],
  ["a failure without a reason", 500, status(500, ""), ["isInternalError"]],
  ["a proxy's page", 503, "<html>upstream</html>", ["isServiceUnavailable"]],
  ["an empty answer", 401, "", ["isUnauthorized"]],
  ["too large", 413, status(413, "RequestEntityTooLarge"), ["isRequestTooLarge"]],
  ["a wrong method", 405, status(405, "MethodNotAllowed"), ["isMethodNotAllowed"]],
  ["a bad request", 400, status(400, "BadRequest"), ["isBadRequest"]],
];

for (const [name, code, body, answers] of cases)
  test(`${name} is told apart`, () => {
    const error = apiErrorFrom("GET /x", code, body);
    assert.deepEqual(holding(error).sort(), [...answers].sort());
    assert.equal(error.status, code);
    assert.notEqual(error.message, "");
  });

test("a 409 without a Status is a taken name for a create and a conflict for all else", () => {
  assert.deepEqual(holding(apiErrorFrom("POST /x", 409, "")), ["isAlreadyExists"]);
  assert.deepEqual(holding(apiErrorFrom("PUT /x", 409, "")), ["isConflict"]);
});

test("questions about other errors are answered with no, and odd details do not make them throw", () => {
  for (const other of [undefined, null, "NotFound", new Error("NotFound"), { reason: "NotFound" }])
    assert.deepEqual(holding(other), []);
  for (const details of [null, "x", { causes: "x" }, { causes: [null] }, { causes: null }])
    assert.deepEqual(holding(apiErrorFrom("GET /x", 422, status(422, "Invalid", { details }))), ["isInvalid"]);
});

test("the wish to be asked later comes from the header, otherwise from the details", () => {
  const body = status(429, "TooManyRequests", { details: { retryAfterSeconds: 7 } });
  assert.equal(apiErrorFrom("GET /x", 429, body).retryAfterSeconds, 7);
  assert.equal(apiErrorFrom("GET /x", 429, body, 2).retryAfterSeconds, 2);
  assert.equal(apiErrorFrom("GET /x", 429, "slow down").retryAfterSeconds, undefined);
});

test("a long page of a proxy is cut, and the request is named", () => {
  const error = apiErrorFrom("GET /x", 502, "y".repeat(10_000));
  assert.equal(error.message.length, 512);
  assert.equal(error.request, "GET /x");
  assert.match(apiErrorFrom("GET /x", 502, "").message, /GET \/x/);
});
