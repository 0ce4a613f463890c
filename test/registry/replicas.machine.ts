import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { findPostgres, type PostgresServer, startPostgres } from "../../src/store/postgres-server.ts";
import { type CapstanProcess, startUp } from "./capstan-up.ts";

const found = findPostgres();
const discovery = "/api/v1/management/discovery";

describe("`capstan up` on one PostgreSQL", {
  skip: "missing" in found ? found.missing : false,
  timeout: 900_000,
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  test("every replica serves the same registry, the feed goes on at another one, and any may be killed", async (context) => {
    const start = (dataDir?: string): Promise<CapstanProcess> =>
      startUp(context, [`--database-url=${server.url}`], dataDir);
    const [first, second, third] = (await Promise.all([start(), start(), start()])) as [
      CapstanProcess,
      CapstanProcess,
      CapstanProcess,
    ];
    const seen: string[] = [];
    const hangUp = new AbortController();
    const reading = readFeed(second, seen, hangUp.signal, "0");

    const one = await register(first, "one");
    await call(second, "POST", `${discovery}/heartbeats`, one);
    await eventually(async () => assert.deepEqual(await names(third), ["one"]));
    await eventually(async () => assert.equal(await resolved(third, "one"), one));
    await first.kill();
    const two = await register(third, "two");
    await eventually(async () => assert.deepEqual(await names(second), ["one", "two"]));

    await eventually(async () => assert.ok(registrationsIn(seen).includes(two)));
    hangUp.abort();
    await reading;
    const place = seen.findLast((line) => line.startsWith("id:"))?.slice("id:".length);
    await second.kill();
    const back = await start(first.dataDir);
    const three = await register(back, "three");
    await eventually(async () => assert.deepEqual(await names(third), ["one", "two", "three"]));
    assert.deepEqual(await names(back), ["one", "two", "three"]);

    const rest: string[] = [];
    const end = new AbortController();
    const resumed = readFeed(third, rest, end.signal, place);
    await eventually(async () => assert.ok(registrationsIn(rest).includes(three)));
    end.abort();
    await resumed;
    assert.deepEqual(registrationsIn([...seen, ...rest]), [one, two, three], "each once, in order, across replicas");
  });
});

async function call({ http }: CapstanProcess, method: string, path: string, body?: unknown): Promise<unknown> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(http + path, { method, ...(body !== undefined && { body: text }) });
  assert.equal(response.status, 200, `${method} ${path}`);
  return ((await response.json()) as { readonly data: unknown }).data;
}

const register = async (replica: CapstanProcess, serviceName: string): Promise<string> =>
  ((await call(replica, "POST", discovery, { serviceName, host: "10.0.0.1", port: 1 })) as { readonly id: string }).id;

const names = async (replica: CapstanProcess): Promise<readonly string[]> =>
  ((await call(replica, "GET", "/api/v1/capabilities")) as { readonly serviceName: string }[]).map(
    ({ serviceName }) => serviceName,
  );

const resolved = async (replica: CapstanProcess, name: string): Promise<string> =>
  ((await call(replica, "GET", `/api/v1/resolve?serviceName=${name}`)) as { readonly id: string }).id;

/** The lines of the feed, until it is cut. */
async function readFeed(
  { http }: CapstanProcess,
  lines: string[],
  signal: AbortSignal,
  place: string | undefined,
): Promise<void> {
  const headers = place === undefined ? {} : { "last-event-id": place };
  try {
    const response = await fetch(`${http}/api/v1/capabilities/notifications?resume=true`, { signal, headers });
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const parts = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
    }
  } catch {
    assert.ok(signal.aborted, "the feed ends only when it is cut");
  }
}

const registrationsIn = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => line.startsWith('data:{"eventType":"REGISTER"'))
    .map((line) => (JSON.parse(line.slice("data:".length)) as { readonly id: string }).id);

async function eventually(passes: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await passes();
    } catch (error) {
      if (attempt === 1_200) throw error;
    }
    await wait(50);
  }
}
