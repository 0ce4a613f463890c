import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { startHttpProxy, startSocksProxy } from "../../test/loopback/proxy.ts";
import {
  answerJson,
  type LoopbackOptions,
  type LoopbackServer,
  newAuthority,
  startServer,
  validity,
} from "../../test/loopback/server.ts";
import { sleep } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";
import { issueCertificate } from "../http/x509.ts";
import type { KindRef } from "../kube/kind.ts";
import type { ClusterAccess, TlsAccess } from "./cluster-access.ts";
import { type ClusterClient, type ConnectOptions, connect } from "./connect.ts";
import { ConnectionError } from "./connection-error.ts";

const ConfigMap: KindRef = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const key = { namespace: "ns", name: "a" };
const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...key, resourceVersion: "1" } };
const event = `${JSON.stringify({ type: "ADDED", object })}\n`;

/** What a test opened is closed after it, the last first. */
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function serve(options: Partial<LoopbackOptions> = {}): Promise<LoopbackServer> {
  const server = await startServer({ answer: (_, response) => answerJson(response, 200, object), ...options });
  opened.push(() => server.close());
  return server;
}

function open(
  server: LoopbackServer,
  more: Partial<ClusterAccess> = {},
  tls: TlsAccess = { ca: { kind: "Inline", text: server.authority.certificatePem } },
  options: Partial<ConnectOptions> = {},
): ClusterClient {
  const access: ClusterAccess = {
    server: server.url,
    namespace: "default",
    tls,
    credential: { kind: "None" },
    ...more,
  };
  const cluster = connect(access, { env: systemEnv, ...options });
  opened.push(() => cluster.close());
  return cluster;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "capstan-transport-"));
  opened.push(() => rm(path, { recursive: true }));
  return path;
}

const rejectedWith = async (work: Promise<unknown>): Promise<ConnectionError> => {
  const error: unknown = await work.then(
    () => assert.fail("it should have failed"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ConnectionError, String(error));
  return error;
};

/** Bounded by the time that its test has. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(systemEnv, 5);
}

describe("connections", { timeout: 30_000 }, () => {
  test("are reused, and bounded when many requests come at once", async () => {
    const server = await serve();
    const { client } = open(server, {}, undefined, { maxConnections: 4 });
    for (let turn = 0; turn < 20; turn++) await client.get(ConfigMap, key);
    // Two, because a connection rests for one turn of the event loop after each answer.
    assert.ok(server.connections() <= 2, `${server.connections()} connections`);
    await Promise.all(Array.from({ length: 100 }, () => client.get(ConfigMap, key)));
    assert.ok(server.connections() <= 4, `${server.connections()} connections`);
  });

  test("of streams are not counted, so that many watches leave room for requests", async () => {
    const server = await serve({
      answer: ({ target }, response) => {
        if (!target.includes("watch=true")) return answerJson(response, 200, object);
        response.writeHead(200).write(event);
      },
    });
    const { client } = open(server, {}, undefined, { maxConnections: 1 });
    const watches = Array.from({ length: 5 }, () => client.watch(ConfigMap)[Symbol.asyncIterator]());
    for (const watch of watches) assert.equal((await watch.next()).value?.type, "ADDED");
    await client.get(ConfigMap, key);
    for (const watch of watches) await watch.return?.();
  });

  test("carry method, path with prefix, headers and body as they were built", async () => {
    const server = await serve();
    const { client } = open(server, { server: `${server.url}/k8s/clusters/c-1/` }, undefined, { userAgent: "me/1" });
    await client.create(ConfigMap, { metadata: { ...key, labels: { text: "ü" } } }, { fieldManager: "m" });
    const [seen] = server.seen;
    assert.equal(seen?.target, "/k8s/clusters/c-1/api/v1/namespaces/ns/configmaps?fieldManager=m");
    assert.equal(seen?.headers["user-agent"], "me/1");
    assert.equal(seen?.headers["content-type"], "application/json");
    assert.equal(JSON.parse(seen?.body ?? "").metadata.labels.text, "ü");
  });

  test("end with close, and a closed client says so", async () => {
    const server = await serve({ answer: (_, response) => void response.writeHead(200).write(event) });
    const cluster = open(server);
    const watch = cluster.client.watch(ConfigMap)[Symbol.asyncIterator]();
    await watch.next();
    const broken = rejectedWith(watch.next());
    await cluster.close();
    assert.equal((await broken).reason, "Broken");
    await assert.rejects(
      cluster.client.create(ConfigMap, { metadata: key }, { signal: AbortSignal.timeout(3_000) }),
      /is closed/,
    );
  });

  test("plain HTTP works, and sends no credential", async () => {
    const server = await serve({ tls: false });
    const { client } = open(server, { credential: { kind: "Token", token: "secret" } });
    await client.get(ConfigMap, key);
    assert.equal(server.seen[0]?.headers["authorization"], undefined);
  });
});

describe("TLS", { timeout: 30_000 }, () => {
  test("a server of another authority is not trusted, and nothing was sent", async () => {
    const server = await serve();
    const { client } = open(server, {}, { ca: { kind: "Inline", text: newAuthority().certificatePem } });
    const error = await rejectedWith(client.create(ConfigMap, { metadata: key }));
    assert.deepEqual([error.reason, error.mayHaveBeenApplied], ["TlsRejected", false]);
    assert.match(error.message, /cannot connect to https:\/\/127\.0\.0\.1:\d+/);
    assert.equal(server.seen.length, 0);
  });

  test("unless verification is off", async () => {
    const server = await serve();
    await open(server, {}, { skipVerify: true }).client.get(ConfigMap, key);
  });

  test("the name on the certificate counts: another one is refused, tls-server-name is asked for", async () => {
    const server = await serve({ dnsNames: ["kubernetes.internal"] });
    const ca = { kind: "Inline", text: server.authority.certificatePem } as const;
    assert.equal((await rejectedWith(open(server, {}, { ca }).client.get(ConfigMap, key))).reason, "TlsRejected");
    await open(server, {}, { ca, serverName: "kubernetes.internal" }).client.get(ConfigMap, key);
  });

  test("a client certificate is shown, and a server that wants one refuses those without", async () => {
    const server = await serve({ requestCert: true });
    const issued = issueCertificate(server.authority, { subject: { commonName: "me" }, usages: ["client"], validity });
    const ca = { kind: "Inline", text: server.authority.certificatePem } as const;
    const clientCertificate = {
      certificate: { kind: "Inline", text: issued.certificatePem },
      key: { kind: "Inline", text: issued.keyPem },
    } as const;
    await open(server, {}, { ca, clientCertificate }).client.get(ConfigMap, key);
    // Node's server says no by hanging up, which looks like any other broken connection.
    const without = open(server, {}, { ca }, { retry: { maxAttempts: 1 } });
    assert.equal((await rejectedWith(without.client.get(ConfigMap, key))).reason, "Broken");
    assert.equal(server.seen.length, 1);
  });

  test("an authority that is replaced on disk is taken up at the first refusal, without a restart", async () => {
    const path = join(await folder(), "ca.crt");
    const first = await serve();
    await writeFile(path, first.authority.certificatePem);
    const { client } = open(first, {}, { ca: { kind: "File", path, label: "ca" } });
    await client.get(ConfigMap, key);
    await first.close();
    const second = await serve({ port: first.port, authority: newAuthority() });
    assert.equal((await rejectedWith(client.create(ConfigMap, { metadata: key }))).reason, "TlsRejected");
    await writeFile(path, second.authority.certificatePem);
    await client.create(ConfigMap, { metadata: key });
    assert.equal(second.seen.length, 1);
  });

  test("a certificate that does not belong to its key is an error of the connection, not a crash", async () => {
    const server = await serve();
    const one = issueCertificate(server.authority, { subject: { commonName: "a" }, usages: ["client"], validity });
    const two = issueCertificate(server.authority, { subject: { commonName: "b" }, usages: ["client"], validity });
    const clientCertificate = {
      certificate: { kind: "Inline", text: one.certificatePem },
      key: { kind: "Inline", text: two.keyPem },
    } as const;
    const { client } = open(server, {}, { skipVerify: true, clientCertificate });
    assert.equal((await rejectedWith(client.get(ConfigMap, key))).reason, "TlsRejected");
  });
});

describe("credentials", { timeout: 30_000 }, () => {
  test("a token that is refused is read again, and even a create is sent again: it was not carried out", async () => {
    const path = join(await folder(), "token");
    await writeFile(path, "old");
    const server = await serve({
      answer: ({ headers }, response) =>
        headers.authorization === "Bearer new"
          ? answerJson(response, 201, object)
          : answerJson(response, 401, { kind: "Status", code: 401, reason: "Unauthorized", message: "no" }),
    });
    const { client } = open(server, { credential: { kind: "TokenFile", path, label: "token" } });
    await assert.rejects(client.create(ConfigMap, { metadata: key }), { reason: "Unauthorized" });
    assert.equal(server.seen.length, 1);
    await writeFile(path, "new");
    await client.create(ConfigMap, { metadata: key });
    assert.deepEqual(
      server.seen.map(({ headers }) => headers.authorization),
      ["Bearer old", "Bearer old", "Bearer new"],
    );
    assert.equal(server.seen[1]?.body, server.seen[2]?.body);
  });

  test("a credential that cannot be had is said at once, and nothing is sent", async () => {
    const server = await serve();
    const path = join(await folder(), "nope");
    const { client } = open(server, { credential: { kind: "TokenFile", path, label: "tokenFile of the test" } });
    await assert.rejects(client.get(ConfigMap, key), {
      name: "CredentialError",
      message: /^tokenFile of the test: cannot read/,
    });
    assert.equal(server.connections(), 0);
  });

  test("several groups to act as are several headers", async () => {
    const server = await serve({
      answer: (_, response, raw) => answerJson(response, 200, { ...object, data: { raw: raw.rawHeaders.join("|") } }),
    });
    const { client } = open(server, { impersonate: { user: "jane", groups: ["a", "b"] } });
    const answer = JSON.stringify(await client.get(ConfigMap, key));
    assert.match(answer, /impersonate-user\|jane/);
    assert.match(answer, /impersonate-group\|a\|impersonate-group\|b/);
  });
});

describe("proxies", { timeout: 30_000 }, () => {
  for (const [name, start, scheme] of [
    ["HTTP CONNECT", startHttpProxy, "http"],
    ["SOCKS 5", startSocksProxy, "socks5"],
  ] as const) {
    test(`${name}: TLS goes through to the server, with a password where one is asked for`, async () => {
      const server = await serve();
      const proxy = await start(server.port, "me:p@ss");
      opened.push(() => proxy.close());
      const { client } = open(server, { proxyUrl: `${scheme}://me:p%40ss@${proxy.host}` });
      for (let turn = 0; turn < 5; turn++) await client.get(ConfigMap, key);
      assert.ok(proxy.asked.length <= 2);
      assert.match(proxy.asked[0] ?? "", new RegExp(`127\\.0\\.0\\.1:${server.port}`));
    });

    test(`${name}: a refusal says so without the password, and nothing was sent`, async () => {
      const server = await serve();
      const proxy = await start(server.port, "me:right");
      opened.push(() => proxy.close());
      const { client } = open(server, { proxyUrl: `${scheme}://me:hunter2@${proxy.host}` }, undefined, {
        retry: { maxAttempts: 1 },
      });
      const error = await rejectedWith(client.get(ConfigMap, key));
      assert.deepEqual([error.reason, error.mayHaveBeenApplied], ["ProxyRejected", false]);
      assert.ok(!`${error.message}${error.stack}`.includes("hunter2"));
      assert.equal(server.seen.length, 0);
    });
  }

  test("a proxy that is not there", async () => {
    const server = await serve();
    const { client } = open(server, { proxyUrl: "http://127.0.0.1:9" }, undefined, { retry: { maxAttempts: 1 } });
    assert.equal((await rejectedWith(client.get(ConfigMap, key))).reason, "ProxyRejected");
  });
});

describe("faults of the way", { timeout: 30_000 }, () => {
  const fast = { retry: { firstDelayMs: 5 } };

  test("nobody listens: even a create is tried again, and arrives when the server is back", async () => {
    const server = await serve();
    await server.close();
    const { client } = open(server, {}, undefined, { retry: { firstDelayMs: 200 } });
    const work = client.create(ConfigMap, { metadata: key });
    await sleep(systemEnv, 100);
    const again = await serve({ port: server.port, authority: server.authority });
    await work;
    assert.equal(again.seen.length, 1);
  });

  test("a name without an address", async () => {
    const server = await serve();
    const { client } = open(server, { server: "https://no-such-host.invalid" }, undefined, {
      retry: { maxAttempts: 1 },
    });
    assert.equal((await rejectedWith(client.get(ConfigMap, key))).reason, "NotResolved");
  });

  test("a server that cuts the connection: a read is sent again, a create is not", async () => {
    let left = 1;
    const server = await serve({
      answer: (_, response, raw) => {
        if (left-- > 0) raw.socket.destroy();
        else answerJson(response, 200, object);
      },
    });
    const { client } = open(server, {}, undefined, fast);
    await client.get(ConfigMap, key);
    assert.equal(server.seen.length, 2);
    left = 1;
    const error = await rejectedWith(client.create(ConfigMap, { metadata: key }));
    assert.deepEqual([error.reason, error.mayHaveBeenApplied], ["Broken", true]);
    assert.equal(server.seen.length, 3);
  });

  test("an answer that ends too early is not used", async () => {
    let left = 1;
    const server = await serve({
      answer: (_, response, raw) => {
        if (left-- <= 0) return answerJson(response, 200, object);
        response.writeHead(200, { "content-length": 1000 }).write('{"kind":"ConfigMap"');
        setTimeout(() => raw.socket.destroy(), 20);
      },
    });
    const { client } = open(server, {}, undefined, fast);
    assert.deepEqual(await client.get(ConfigMap, key), object);
    assert.equal(server.seen.length, 2);
  });

  test("an idle connection that the server closed meanwhile is not used again", async () => {
    const server = await serve();
    const { client } = open(server, {}, undefined, { retry: { maxAttempts: 1 } });
    await client.get(ConfigMap, key);
    for (const socket of server.sockets) socket.destroy();
    await until(() => server.sockets.size === 0);
    await sleep(systemEnv, 50);
    await client.create(ConfigMap, { metadata: key });
    assert.equal(server.connections(), 2);
  });

  test("F8: a watch whose connection is reset breaks, one that ends cleanly ends", async () => {
    const server = await serve({
      answer: ({ target }, response, raw) => {
        response.writeHead(200).write(event);
        setTimeout(() => (target.includes("reset") ? raw.socket.destroy() : response.end()), 20);
      },
    });
    const { client } = open(server);
    const seen: string[] = [];
    for await (const { type } of client.watch(ConfigMap, { labelSelector: "clean" })) seen.push(type);
    const error = await rejectedWith(
      (async () => {
        for await (const { type } of client.watch(ConfigMap, { labelSelector: "reset" })) seen.push(type);
      })(),
    );
    assert.equal(error.reason, "Broken");
    assert.deepEqual(seen, ["ADDED", "ADDED"]);
  });

  test("F8: a half-open watch is given up after its idle time, and its connection with it", async () => {
    const server = await serve({ answer: (_, response) => void response.writeHead(200).write(event) });
    const { client } = open(server);
    const error = await rejectedWith(
      (async () => {
        for await (const _ of client.watch(ConfigMap, { idleTimeoutMs: 100 }));
      })(),
    );
    assert.equal(error.reason, "Silent");
    await until(() => server.sockets.size === 0);
    assert.equal(server.sockets.size, 0);
  });

  test("a server that accepts and says nothing: the attempt ends in time", async () => {
    const silent = createTcpServer((socket) => void socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    opened.push(() => new Promise((resolve) => silent.close(resolve)));
    const address = silent.address();
    const server = await serve();
    const { client } = open(
      server,
      { server: `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}` },
      undefined,
      {
        requestTimeoutMs: 200,
        retry: { maxAttempts: 1 },
      },
    );
    const error = await rejectedWith(client.get(ConfigMap, key));
    assert.equal(error.reason, "TimedOut");
  });

  test("what is not HTTP is an error, not an answer", async () => {
    const odd = createTcpServer((socket) => socket.resume().end("SSH-2.0-OpenSSH\r\n"));
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
    opened.push(() => new Promise((resolve) => odd.close(resolve)));
    const address = odd.address();
    const server = await serve();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const { client } = open(server, { server: url }, undefined, { retry: { maxAttempts: 1 } });
    assert.equal((await rejectedWith(client.get(ConfigMap, key))).reason, "Broken");
  });

  test("F15: a slow reader holds the server back instead of filling memory", async () => {
    const line = `${JSON.stringify({ type: "ADDED", object: { ...object, data: { text: "x".repeat(10_000) } } })}\n`;
    let written = 0;
    const server = await serve({
      answer: async (_, response) => {
        response.writeHead(200);
        for (let count = 0; count < 5_000; count++) {
          const more = response.write(line);
          written += line.length;
          if (!more) await new Promise((resolve) => response.once("drain", resolve));
        }
        response.end();
      },
    });
    const { client } = open(server);
    let count = 0;
    for await (const _ of client.watch(ConfigMap)) {
      if (++count === 1) {
        await sleep(systemEnv, 500);
        assert.ok(written < 20_000_000, `${written} bytes were taken from the server while nobody read`);
      }
    }
    assert.equal(count, 5_000);
  });

  test("an abort closes the connection of a request that is under way", async () => {
    const server = await serve({ answer: () => {} });
    const { client } = open(server);
    const stop = new AbortController();
    const work = assert.rejects(client.get(ConfigMap, key, { signal: stop.signal }), { message: "enough" });
    await until(() => server.seen.length > 0);
    stop.abort(new Error("enough"));
    await work;
    await until(() => server.sockets.size === 0);
    assert.equal(server.sockets.size, 0);
  });

  test("requests that were given up while they waited for a connection are never sent", async () => {
    const answers: (() => void)[] = [];
    const server = await serve({
      answer: (_, response) => void answers.push(() => answerJson(response, 200, object)),
    });
    const { client } = open(server, {}, undefined, { maxConnections: 1 });
    const first = client.get(ConfigMap, key);
    await until(() => answers.length > 0);
    const stop = new AbortController();
    const second = assert.rejects(client.create(ConfigMap, { metadata: key }, { signal: stop.signal }), {
      message: "enough",
    });
    await sleep(systemEnv, 20);
    stop.abort(new Error("enough"));
    await second;
    answers.shift()?.();
    await first;
    const third = client.get(ConfigMap, key);
    await until(() => answers.length > 0);
    answers.shift()?.();
    await third;
    assert.deepEqual(
      server.seen.map(({ method }) => method),
      ["GET", "GET"],
    );
  });
});

test("a program whose server is down ends with an error, not in silence", { timeout: 30_000 }, async () => {
  const program = `
    import { systemEnv } from "./src/env/system.ts";
    import { connect } from "./src/client/connect.ts";
    const access = { server: "https://127.0.0.1:9", namespace: "d", tls: {}, credential: { kind: "None" } };
    const { client } = connect(access, { env: systemEnv });
    await client.raw({ method: "GET", target: "/version" }).catch((error) => console.log(error.reason));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  assert.equal(stdout, "Refused\n");
});

test("resolving a name is measured", { timeout: 30_000 }, async () => {
  const server = await serve({ dnsNames: ["localhost"] });
  const hosts: string[] = [];
  const { client } = open(server, { server: `https://localhost:${server.port}` }, undefined, {
    metrics: { nameResolved: ({ host, seconds }) => hosts.push(`${host} ${seconds >= 0}`) },
  });
  await client.get(ConfigMap, key);
  assert.deepEqual(hosts, ["localhost true"]);
});
