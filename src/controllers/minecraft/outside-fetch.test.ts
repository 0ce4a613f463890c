import assert from "node:assert/strict";
import type { lookup as lookUp } from "node:dns";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { systemEnv } from "../../env/system.ts";
import { download } from "./download.ts";
import { createOutside, OutsideError, readWhole } from "./outside.ts";
import { createOutsideFetch } from "./outside-fetch.ts";

/** Names that people could own, and the addresses that they turned them to. */
const addresses: Readonly<Record<string, readonly string[]>> = {
  "rebound.example.com": ["127.0.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "mapped.example.com": ["::ffff:10.0.0.1"],
  "mixed.example.com": ["93.184.216.34", "10.0.0.1"],
  "nowhere.example.com": [],
};

function publicFetch(context: { after(end: () => void): void }) {
  const asked: string[] = [];
  const lookup = ((name: string, _: unknown, callback: (error: null, found: unknown) => void) => {
    asked.push(name);
    callback(
      null,
      (addresses[name] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  }) as unknown as typeof lookUp;
  const outside = createOutsideFetch({ trustedUrls: ["http://mirror.games.svc:8080"], lookup });
  context.after(() => outside.close());
  return { fetch: outside.fetch, asked };
}

for (const name of Object.keys(addresses))
  test(`${name} is not connected to`, async (context) => {
    const { fetch, asked } = publicFetch(context);
    await assert.rejects(
      fetch({ method: "GET", target: `https://${name}/a.jar`, headers: {} }),
      (error) => error instanceof OutsideError && error.reason === "Refused",
    );
    assert.deepEqual(asked, [name]);
  });

for (const url of [
  "https://127.0.0.1/a.jar",
  "https://[::1]/a.jar",
  "https://169.254.169.254/latest/meta-data",
  "https://kubernetes.default.svc/api",
  "http://example.com/a.jar",
  "file:///etc/passwd",
])
  test(`${url} is refused without a question to anybody`, async (context) => {
    const { fetch, asked } = publicFetch(context);
    await assert.rejects(
      fetch({ method: "GET", target: url, headers: {} }),
      (error) => error instanceof OutsideError && error.reason === "Refused",
    );
    assert.deepEqual(asked, []);
  });

test("a jar's address that leads inside the cluster is not followed", async (context) => {
  const { fetch } = publicFetch(context);
  const asked: string[] = [];
  const outside = createOutside({
    env: systemEnv,
    userAgent: "test",
    fetch: (request) => {
      asked.push(request.target);
      if (!request.target.startsWith("https://example.com/")) return fetch(request);
      const body = (async function* () {
        yield Buffer.from("this way");
      })();
      return Promise.resolve({ status: 302, headers: { location: "https://10.0.0.1/secret.jar" }, body });
    },
  });
  await assert.rejects(
    download({ url: "https://example.com/a.jar", hash: "" }, outside, async () => undefined),
    /10\.0\.0\.1 is not fetched: 10\.0\.0\.1 is not a public address/,
  );
  assert.deepEqual(asked, ["https://example.com/a.jar", "https://10.0.0.1/secret.jar"]);
});

/** Answers the first question on each connection, and hangs up at the second; `isDown`: at the first. */
async function startForgetful(context: TestContext) {
  const state = { connections: 0, isDown: false };
  const server = createServer((socket) => {
    state.connections++;
    let questions = 0;
    socket.on("error", () => undefined);
    socket.on("data", () => {
      if (++questions > 1 || state.isDown) return void socket.resetAndDestroy();
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\nhi");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { fetch, close } = createOutsideFetch({ trustedUrls: [url] });
  context.after(() => {
    close();
    server.close();
  });
  const ask = async (): Promise<string> => {
    const { body } = await fetch({ method: "GET", target: `${url}/`, headers: {} });
    return (await readWhole({ status: 200, headers: {}, body }, 100)).toString();
  };
  return { state, ask };
}

test("a connection that the other side closes just when it is used again is no failure", async (context) => {
  const { state, ask } = await startForgetful(context);
  for (let turn = 0; turn < 4; turn++) assert.equal(await ask(), "hi");
  assert.equal(state.connections, 4);
});

test("a new connection that is broken off is one", async (context) => {
  const { state, ask } = await startForgetful(context);
  assert.equal(await ask(), "hi");
  state.isDown = true;
  await assert.rejects(ask(), { code: "ECONNRESET" });
  assert.equal(state.connections, 2);
});
