import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { synchronousHttp } from "./synchronous-http.ts";

/** A server on a thread of its own, because the caller's thread sleeps while it waits. */
const serverSource = `
const http = require("node:http");
const { parentPort } = require("node:worker_threads");
const server = http.createServer((request, response) => {
  if (request.url === "/moved") return response.writeHead(302, { location: "/here" }).end();
  if (request.url === "/silent") return;
  response.writeHead(request.method === "POST" ? 201 : 200, { "content-type": "text/plain" });
  request.pipe(response);
  if (request.method === "GET") response.end("hello");
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

test("requests are answered while the caller sleeps, redirects followed, and silence ends in time", async (context) => {
  const worker = new Worker(serverSource, { eval: true, execArgv: [] });
  context.after(() => worker.terminate());
  const [port] = (await once(worker, "message")) as [number];
  const send = synchronousHttp();
  const ask = (path: string, more: object = {}) =>
    send({
      method: "GET",
      url: `http://127.0.0.1:${port}${path}`,
      headers: {},
      body: undefined,
      timeoutMs: 5_000,
      followsRedirects: true,
      verifiesCertificate: true,
      ...more,
    });
  assert.deepEqual([ask("/").status, ask("/").body], [200, "hello"]);
  assert.deepEqual(
    [ask("/", { method: "POST", body: "sent" }).status, ask("/", { method: "POST", body: "sent" }).body],
    [201, "sent"],
  );
  assert.equal(ask("/moved").body, "hello");
  assert.equal(ask("/moved", { followsRedirects: false }).status, 302);
  assert.throws(() => ask("/silent", { timeoutMs: 50 }), /no answer within 50 ms/);
  assert.throws(() => ask("", { url: "http://127.0.0.1:1/" }), /ECONNREFUSED/);
  assert.throws(() => ask("", { url: "nonsense" }), /Invalid URL/);
});
