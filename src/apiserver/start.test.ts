import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemEnv } from "../env/system.ts";
import { type StartedApiServer, startApiServer } from "./start.ts";

async function started(work: (server: StartedApiServer, dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-start-"));
  const server = await startApiServer({ env: systemEnv, dataDir, port: 0 });
  try {
    await work(server, dataDir);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true });
  }
}

const ask = (
  server: StartedApiServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      { ca: server.caCertificate, servername: "localhost", agent: false, headers },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
      },
    );
    sent.on("error", reject);
    sent.end();
  });

describe("a started API server", () => {
  it("is on loopback, behind TLS that its own authority signed", async () => {
    await started(async (server) => {
      assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
      assert.equal((await ask(server, "/readyz")).text, "ok");
    });
  });

  it("lets nobody in without the token, and the administrator with it", async () => {
    await started(async (server) => {
      assert.equal((await ask(server, "/api/v1/namespaces")).status, 401);
      assert.equal((await ask(server, "/api/v1/namespaces", { authorization: "Bearer guess" })).status, 401);
      assert.equal(
        (await ask(server, "/api/v1/namespaces", { authorization: `Bearer ${server.adminToken}` })).status,
        200,
      );
    });
  });

  it("answers to its own names only, and invites no web page", async () => {
    await started(async (server) => {
      const authorization = `Bearer ${server.adminToken}`;
      const refused = await ask(server, "/api", { host: "evil.example", authorization });
      assert.equal(refused.status, 403);
      assert.match(refused.text, /does not answer to the name/);
      const crossed = await ask(server, "/api", { origin: "https://evil.example", authorization });
      assert.equal(crossed.headers["access-control-allow-origin"], undefined);
    });
  });

  it("writes a kubeconfig for its user alone", async () => {
    await started(async (server, dataDir) => {
      assert.equal(server.kubeconfigPath, join(dataDir, "kubeconfig"));
      assert.equal(statSync(server.kubeconfigPath).mode & 0o777, 0o600);
      const text = readFileSync(server.kubeconfigPath, "utf8");
      assert.ok(text.includes(server.url) && text.includes("certificate-authority-data"));
    });
  });

  it("keeps objects, tokens and certificates over a restart", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "capstan-restart-"));
    try {
      const first = await startApiServer({ env: systemEnv, dataDir, port: 0 });
      const headers = { authorization: `Bearer ${first.adminToken}`, "content-type": "application/json" };
      const post = (target: string, body: object) =>
        first.handle({ method: "POST", target, headers, body: Buffer.from(JSON.stringify(body)) });
      await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "a" } });
      const answer = await post("/api/v1/namespaces/default/serviceaccounts/a/token", { spec: {} });
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      const { status } = JSON.parse(Buffer.concat(chunks).toString()) as { status: { token: string } };
      await first.stop();
      const second = await startApiServer({ env: systemEnv, dataDir, port: 0 });
      assert.equal(second.adminToken, first.adminToken);
      assert.equal(second.caCertificate, first.caCertificate);
      const review = await second.handle({
        method: "POST",
        target: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        headers: { authorization: `Bearer ${status.token}`, "content-type": "application/json" },
        body: Buffer.from("{}"),
      });
      assert.equal(review.status, 201);
      await second.stop();
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it("says who is in the way when its directory is in use, and leaves nothing behind", async () => {
    await started(async (_server, dataDir) => {
      await assert.rejects(startApiServer({ env: systemEnv, dataDir, port: 0 }), /another process is using it/);
      assert.ok(existsSync(join(dataDir, "api.db")));
    });
  });
});
