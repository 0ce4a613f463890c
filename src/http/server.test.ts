import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { describe, it } from "node:test";
import { systemEnv } from "../env/system.ts";
import { WholeBody } from "./body.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "./message.ts";
import { type Listener, type ListenOptions, listen, type SocketRequest } from "./server.ts";
import { createCertificateAuthority, issueCertificate } from "./x509.ts";

const validity = { notBefore: new Date("2025-01-01T00:00:00Z"), notAfter: new Date("2100-01-01T00:00:00Z") };
const authority = createCertificateAuthority({ subject: { commonName: "test-ca" }, validity });
const server = issueCertificate(authority, {
  subject: { commonName: "server" },
  validity,
  usages: ["server"],
  ipAddresses: ["127.0.0.1"],
  dnsNames: ["localhost"],
});
const client = issueCertificate(authority, {
  subject: { commonName: "jane", organizations: ["dev", "ops"] },
  validity,
  usages: ["client"],
});
const tls = { key: server.keyPem, cert: server.certificatePem, clientCa: authority.certificatePem };
const ca = authority.certificatePem;

const echo: HttpHandler = async ({ method, target, body }) =>
  whole(200, `${method} ${target} ${body ? Buffer.from(body).toString() : "-"}`);
const whole = (status: number, text: string): HttpResponse => ({
  status,
  headers: { "content-type": "text/plain", "content-length": String(Buffer.byteLength(text)) },
  body: new WholeBody(Buffer.from(text)),
});

async function serving(options: Partial<ListenOptions>, work: (listener: Listener) => Promise<void>): Promise<void> {
  const listener = await listen({ env: systemEnv, handler: echo, port: 0, tls, drainMs: 500, ...options });
  try {
    await work(listener);
  } finally {
    await listener.close();
  }
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

const ask = (
  url: string,
  options: { method?: string; body?: string; headers?: Record<string, string>; cert?: string; key?: string } = {},
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { body, ...rest } = options;
    const make = url.startsWith("https") ? httpsRequest : httpRequest;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = make(
      url,
      { ca, servername: "localhost", agent: false, ...rest, headers: { ...length, ...rest.headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });

const askHttp2 = (url: string, path: string, body?: string): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const session = connectHttp2(url, { ca });
    session.on("error", reject);
    const stream = session.request({ ":path": path, ":method": body === undefined ? "GET" : "POST" });
    let status = 0;
    const chunks: Buffer[] = [];
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      session.close();
      resolve({ status, text: Buffer.concat(chunks).toString() });
    });
    stream.end(body);
  });

describe("a listener", () => {
  it("a plain request that offers HTTP/2, as Java's client does, is answered as it is", async () => {
    const listener = await listen({ env: systemEnv, handler: echo, port: 0 });
    const socket = connectTcp(listener.port, "127.0.0.1");
    const offer = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"];
    socket.write(["GET /x HTTP/1.1", `Host: 127.0.0.1:${listener.port}`, ...offer, "", ""].join("\r\n"));
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    await listener.close();
    assert.match(answer.toString(), /^HTTP\/1\.1 200 OK/);
  });

  for (const method of ["POST", "DELETE", "GET"])
    it(`a ${method} that says nothing of a body has none, and the connection goes on`, async () => {
      const listener = await listen({ env: systemEnv, handler: echo, port: 0 });
      const socket = connectTcp(listener.port, "127.0.0.1");
      for (const path of ["/first", "/second"]) {
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
        const [answer] = (await once(socket, "data")) as [Buffer];
        assert.ok(answer.toString().endsWith(`\r\n\r\n${method} ${path} -`), answer.toString());
      }
      socket.destroy();
      await listener.close();
    });

  it("speaks HTTP/1.1 and HTTP/2 on one TLS port", async () => {
    await serving({}, async ({ url }) => {
      assert.deepEqual(await ask(`${url}/a?b=c`, { method: "PUT", body: "hi" }), {
        status: 200,
        text: "PUT /a?b=c hi",
      });
      assert.deepEqual(await askHttp2(url, "/a?b=c", "hi"), { status: 200, text: "POST /a?b=c hi" });
    });
  });

  it("speaks plain HTTP without TLS", async () => {
    const listener = await listen({ env: systemEnv, handler: echo, port: 0 });
    assert.match(listener.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual(await ask(`${listener.url}/x`), { status: 200, text: "GET /x -" });
    assert.deepEqual(await ask(`${listener.url}/x`, { method: "PUT", body: "hi" }), { status: 200, text: "PUT /x hi" });
    await listener.close();
  });

  it("listens on loopback unless told otherwise", async () => {
    await serving({}, async ({ url }) => assert.match(url, /^https:\/\/127\.0\.0\.1:/));
  });

  it("refuses names that are not its own, so that no web page can rebind its way in", async () => {
    let calls = 0;
    const handler: HttpHandler = async (request) => {
      calls++;
      return echo(request);
    };
    await serving({ handler }, async ({ url, port }) => {
      assert.equal((await ask(`${url}/`, { headers: { host: `evil.example:${port}` } })).status, 403);
      assert.equal((await ask(`${url}/`, { headers: { host: "127.0.0.1.evil.example" } })).status, 403);
      assert.equal(calls, 0);
      for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
        assert.equal((await ask(`${url}/`, { headers: { host } })).status, 200, host);
      }
    });
  });

  it("refuses bodies over the limit, announced or not", async () => {
    await serving({ bodyLimitBytes: 100 }, async ({ url }) => {
      assert.equal((await ask(url, { method: "POST", body: "x".repeat(100) })).status, 200);
      assert.equal((await ask(url, { method: "POST", body: "x".repeat(101) })).status, 413);
      const chunked = await new Promise<number>((resolve, reject) => {
        const sent = httpsRequest(url, { ca, agent: false, method: "POST" }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on("error", reject);
        sent.write("x".repeat(80));
        sent.end("x".repeat(80));
      });
      assert.equal(chunked, 413);
      assert.equal((await askHttp2(url, "/", "x".repeat(101))).status, 413);
    });
  });

  it("lets the caller say how refusals look", async () => {
    const refuse: ListenOptions["refuse"] = (refusal) => whole(418, refusal.kind);
    await serving({ bodyLimitBytes: 1, refuse }, async ({ url }) => {
      assert.deepEqual(await ask(url, { method: "POST", body: "xx" }), { status: 418, text: "BodyTooLarge" });
      assert.deepEqual(await ask(url, { headers: { host: "x" } }), { status: 418, text: "UnknownHost" });
    });
  });

  it("hands over client certificates that its authority signed, and no others", async () => {
    const handler: HttpHandler = async (request: HttpRequest) =>
      whole(200, JSON.stringify((request as SocketRequest).peer ?? null));
    await serving({ handler }, async ({ url }) => {
      assert.equal((await ask(url)).text, "null");
      const known = await ask(url, { cert: client.certificatePem, key: client.keyPem });
      assert.deepEqual(JSON.parse(known.text), { commonName: "jane", organizations: ["dev", "ops"] });
      const stranger = createCertificateAuthority({ subject: { commonName: "stranger" }, validity });
      const forged = issueCertificate(stranger, { subject: { commonName: "jane" }, validity, usages: ["client"] });
      assert.equal((await ask(url, { cert: forged.certificatePem, key: forged.keyPem })).text, "null");
    });
  });

  it("does not run ahead of a slow reader", async () => {
    let sentBytes = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const handler: HttpHandler = async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for (let i = 0; i < 2000; i++) {
          sentBytes += chunk.length;
          yield chunk;
        }
      })(),
    });
    await serving({ handler, tls: tls }, async ({ url }) => {
      await new Promise<void>((resolve, reject) => {
        const sent = httpsRequest(url, { ca, agent: false }, (response) => {
          response.pause();
          setTimeout(() => {
            const ahead = sentBytes;
            assert.ok(ahead < 32 * 1024 * 1024, `${ahead} bytes were made for a reader that reads nothing`);
            sent.destroy();
            resolve();
          }, 300);
        });
        sent.on("error", reject);
        sent.end();
      });
    });
  });

  it("tells the handler when the client has gone", async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const handler: HttpHandler = async ({ signal }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from("begin");
        await new Promise<void>((done) => signal?.addEventListener("abort", () => done()));
        resolve();
      })(),
    });
    await serving({ handler }, async ({ url }) => {
      const sent = httpsRequest(url, { ca, agent: false }, (response) => {
        response.once("data", () => sent.destroy());
        response.on("error", () => {});
      });
      sent.on("error", () => {});
      sent.end();
      await gone;
    });
  });

  it("ends streams and waits for answers when it closes", async () => {
    const { promise: slow, resolve: finish } = Promise.withResolvers<void>();
    const { promise: bothArrived, resolve: arrived } = Promise.withResolvers<void>();
    let arrivals = 0;
    const arrive = (): void => {
      if (++arrivals === 2) arrived();
    };
    const handler: HttpHandler = async ({ target, signal }) => {
      if (target === "/slow") {
        arrive();
        await slow;
        return whole(200, "done");
      }
      return {
        status: 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from("begin;");
          const ended = new Promise<void>((done) => signal?.addEventListener("abort", () => done()));
          arrive();
          await ended;
          yield Buffer.from("end");
        })(),
      };
    };
    const listener = await listen({ env: systemEnv, handler, port: 0, tls, drainMs: 60_000 });
    const stream = ask(`${listener.url}/stream`);
    const answer = ask(`${listener.url}/slow`);
    await bothArrived;
    const closing = listener.close();
    finish();
    assert.equal((await stream).text, "begin;end");
    assert.equal((await answer).text, "done");
    await closing;
    await assert.rejects(ask(`${listener.url}/late`), /ECONNREFUSED|ECONNRESET/);
  });

  it("survives clients that speak neither TLS nor HTTP", async () => {
    await serving({}, async ({ port, url }) => {
      for (const garbage of ["GET / HTTP/1.1\r\n\r\n", "\x00\x01\x02", "x".repeat(10_000)]) {
        await new Promise<void>((resolve) => {
          const socket = connectTcp(port, "127.0.0.1", () => socket.end(garbage));
          socket.on("error", () => {});
          socket.on("close", () => resolve());
        });
      }
      assert.equal((await ask(url)).status, 200);
    });
  });

  it("says why it cannot listen", async () => {
    await serving({}, async ({ port }) => {
      await assert.rejects(listen({ env: systemEnv, handler: echo, port }), /EADDRINUSE/);
    });
  });
});
