import assert from "node:assert/strict";
import { test } from "node:test";
import { manualEnv } from "../../testing/manual-env.ts";
import { server } from "../version-solver/example-fleet.ts";
import { normalized } from "./base-urls.ts";
import { createOutside, OutsideError } from "./outside.ts";
import { createCatalogue } from "./paper-catalogue.ts";
import { mergePaperFacts } from "./paper-facts.ts";

const urls = normalized({ paper: "https://paper.example.com", dockerHub: "https://hub.example.com" });
const good: Readonly<Record<string, unknown>> = {
  "/v3/projects/paper": { versions: { "1.21": ["1.21.4", "1.21.4-rc1"], "26.1": ["26.1"] } },
  "/v3/projects/paper/versions/1.21.4/builds": [
    { id: 7, time: "2025-01-01T00:00:00Z", channel: "STABLE" },
    { id: 9, time: "2025-03-01T00:00:00Z", channel: "ALPHA" },
    { id: 8, time: "2025-02-01T00:00:00Z", channel: "STABLE" },
    { id: "10" },
  ],
  "/v3/projects/paper/versions/26.1/builds": [{ id: 1, time: "2026-01-01T00:00:00Z", channel: "STABLE" }],
  "/repositories/lexfrei/papermc/tags": { results: [{ name: "1.21.4-8" }, { name: "26.1-1" }, { name: 5 }, null] },
};

function catalogueOf(answers: Readonly<Record<string, unknown>>) {
  const env = manualEnv();
  const outside = createOutside({
    env,
    userAgent: "test",
    fetch: async ({ target }) => {
      const found = answers[new URL(target).pathname];
      const body = (async function* () {
        yield Buffer.from(JSON.stringify(found ?? ""));
      })();
      return { status: found === undefined ? 502 : 200, headers: {}, body };
    },
  });
  return createCatalogue(env, outside, urls);
}

const look = (answers: Readonly<Record<string, unknown>>) =>
  catalogueOf(answers).look([], new AbortController().signal);

test("versions of both schemes are known, in the newest settled build that has an image", async () => {
  const found = await look(good);
  const { status } = mergePaperFacts(
    server("s", { paper: [] }),
    { kind: "Fetched", catalogue: found },
    new Date("2026-02-01T00:00:00Z"),
  );
  assert.deepEqual(
    status.availableVersions?.map(({ version, build, imageAvailable }) => [version, build, imageAvailable]),
    [
      ["26.1", 1, true],
      ["1.21.4", 8, true],
    ],
  );
});

for (const [name, wrong] of [
  ["PaperMC is down", { "/v3/projects/paper": undefined }],
  ["PaperMC names no version", { "/v3/projects/paper": { versions: {} } }],
  ["PaperMC speaks of other things", { "/v3/projects/paper": { versions: { "1.21": 7 } } }],
  ["the builds are no list", { "/v3/projects/paper/versions/26.1/builds": { builds: [] } }],
  ["Docker Hub names no tag", { "/repositories/lexfrei/papermc/tags": { results: [null, { name: 5 }] } }],
  ["Docker Hub is down", { "/repositories/lexfrei/papermc/tags": undefined }],
] as const)
  test(`${name}: it is no answer, so a server keeps what it knew`, async () => {
    const failure = await look({ ...good, ...wrong }).catch((error: unknown) => error);
    assert.ok(failure instanceof OutsideError);
    const known = server("s", { current: "1.21.4", paper: ["1.21.4"] });
    const { status, events } = mergePaperFacts(
      known,
      { kind: "Failed", message: failure.message },
      new Date("2026-02-01T00:00:00Z"),
    );
    assert.deepEqual(status.availableVersions, known.status?.availableVersions);
    assert.equal(status.repositoryStatus, "orphaned");
    assert.deepEqual(
      events.map(({ reason }) => reason),
      ["RepositoryUnavailable"],
    );
  });
