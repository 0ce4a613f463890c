import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { ServiceAccount } from "../api/builtin/configuration.ts";
import { createApiServer } from "../apiserver/server.ts";
import type { Client } from "../client/client.ts";
import { createClient } from "../client/create-client.ts";
import type { HttpRequest } from "../http/message.ts";
import { tlsFilesLookMs } from "../http/tls-files.ts";
import { createCertificateAuthority, type IssuedCertificate, issueCertificate } from "../http/x509.ts";
import { createLogger } from "../runtime/log.ts";
import { MetricsRegistry } from "../runtime/metrics.ts";
import { openSqlite } from "../store/sqlite-database.ts";
import { type ManualEnv, manualEnv } from "../testing/manual-env.ts";
import { type RegistrySettings, RegistrySetupError, type RunningRegistry, startRegistry } from "./registry.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-registry-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const tokensFile = join(folder, "tokens");
writeFileSync(tokensFile, "a-token,alice,team-a\n");

interface Started {
  readonly env: ManualEnv;
  readonly client: Client;
  readonly running: RunningRegistry;
  readonly logged: readonly string[];
}

async function start(
  context: TestContext,
  settings: Partial<RegistrySettings>,
  hosts: readonly string[] = ["127.0.0.1"],
): Promise<Started> {
  const env = manualEnv();
  const api = await createApiServer({
    env,
    file: ":memory:",
    tokens: [{ token: "admin", user: { name: "admin", groups: ["system:masters"] } }],
  });
  const client = createClient({
    env,
    fieldManager: "test",
    transport: (request) => api.handle({ ...request, headers: { ...request.headers, authorization: "Bearer admin" } }),
  });
  const database = await openSqlite(":memory:");
  const logged: string[] = [];
  context.after(async () => {
    await database.close();
    await api.close();
  });
  const running = await startRegistry({
    env,
    client,
    database,
    hosts,
    log: createLogger({ env, level: "info", writeLine: (line) => logged.push(line) }),
    metrics: new MetricsRegistry(),
    version: "0.0.0-test",
    settings: { namespace: "capstan-system", ...settings },
    isLeader: () => true,
  });
  context.after(() => running.stop());
  return { env, client, running, logged };
}

const list = (token?: string): HttpRequest => ({
  method: "GET",
  target: "/api/v1/capabilities",
  headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
});

describe("the registry's access", () => {
  test("is open on loopback, and a token is not looked at", async (context) => {
    const { running } = await start(context, {});
    assert.equal((await running.part(list()))?.status, 200);
    assert.equal((await running.part(list("anything")))?.status, 200);
  });

  test("on any other address needs a way to check tokens", async (context) => {
    await assert.rejects(start(context, {}, ["127.0.0.1", "0.0.0.0"]), RegistrySetupError);
    await assert.rejects(
      start(context, { listen: { host: "0.0.0.0", port: 0 } }),
      /the registry would be open to everyone who reaches 0\.0\.0\.0: configure a token file/,
    );
    await assert.rejects(start(context, { tokensFile: join(folder, "absent") }), /cannot read .*absent/);
    const { running } = await start(context, { tokensFile }, ["0.0.0.0"]);
    assert.equal((await running.part(list()))?.status, 401);
    assert.equal((await running.part(list("wrong")))?.status, 401);
    assert.equal((await running.part(list("a-token")))?.status, 200);
  });

  test("knows ServiceAccounts by tokens for its audience, and mirrors their services in their namespaces", async (context) => {
    const { client, running } = await start(context, { tokenReview: { audience: "capstan-registry" } }, ["0.0.0.0"]);
    await client.create(ServiceAccount, { metadata: { name: "tools", namespace: "default" } });
    const tokenFor = (audience: string): Promise<string> =>
      client.createToken({ name: "tools", namespace: "default" }, { audiences: [audience] });
    assert.equal((await running.part(list(await tokenFor("somebody-else"))))?.status, 401);
    const token = await tokenFor("capstan-registry");
    assert.equal((await running.part(list(token)))?.status, 200);
    const answer = await running.part({
      method: "POST",
      target: "/api/v1/management/discovery",
      headers: { authorization: `Bearer ${token}` },
      body: Buffer.from(JSON.stringify({ serviceName: "chat", host: "h", port: 1 })),
    });
    assert.equal(answer?.status, 200);
    const [entry] = [...running.registry.core.directory.entries()];
    assert.equal(entry?.instance.owner, "system:serviceaccount:default:tools");
    assert.equal(entry?.instance.namespace, "default");
  });
});

describe("a port for the registry alone", () => {
  const validity = { notBefore: new Date("2025-01-01T00:00:00Z"), notAfter: new Date("2100-01-01T00:00:00Z") };
  const authority = createCertificateAuthority({ subject: { commonName: "test-ca" }, validity });
  const issue = (commonName: string): IssuedCertificate =>
    issueCertificate(authority, { subject: { commonName }, validity, usages: ["server"], ipAddresses: ["127.0.0.1"] });
  const certFile = join(folder, "tls.crt");
  const keyFile = join(folder, "tls.key");
  /** Whole files appear at once, so that no look finds half of one. */
  const put = (file: string, text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const write = ({ certificatePem, keyPem }: IssuedCertificate): void => {
    put(certFile, certificatePem);
    put(keyFile, keyPem);
  };
  const ask = (url: string): Promise<{ readonly status: number; readonly servedBy: string }> =>
    new Promise((resolve, reject) => {
      const make = url.startsWith("https") ? httpsRequest : httpRequest;
      const answered = (response: IncomingMessage): void => {
        const socket = response.socket as Partial<TLSSocket>;
        const servedBy = String(socket.getPeerCertificate?.().subject?.CN ?? "");
        response.resume().once("end", () => resolve({ status: response.statusCode ?? 0, servedBy }));
      };
      make(url, { ca: authority.certificatePem, agent: false }, answered).once("error", reject).end();
    });

  test("serves the registry and nothing else", async (context) => {
    const { running } = await start(context, { listen: { host: "127.0.0.1", port: 0 } });
    assert.equal((await ask(`${running.url}/api/v1/capabilities`)).status, 200);
    assert.equal((await ask(`${running.url}/metrics`)).status, 404);
  });

  test("takes up a new certificate without a restart, and keeps the old one while the files do not fit", async (context) => {
    write(issue("first"));
    const { env, running, logged } = await start(context, {
      listen: { host: "127.0.0.1", port: 0, tls: { certFile, keyFile } },
    });
    const served = async (name: string): Promise<void> => {
      for (let look = 0; look < 1_000; look++) {
        await env.advance(tlsFilesLookMs);
        if ((await ask(`${running.url}/api/v1/capabilities`)).servedBy === name) return;
        await wait(20);
      }
      assert.fail(`the certificate of ${name} is never served`);
    };
    await served("first");
    const second = issue("second");
    put(certFile, second.certificatePem);
    for (let look = 0; look < 1_000 && !logged.some((line) => line.includes("keeps its certificate")); look++) {
      await env.advance(tlsFilesLookMs);
      await wait(20);
    }
    await served("first");
    write(second);
    await served("second");
    assert.equal(logged.filter((line) => line.includes("keeps its certificate")).length, 1, "said once");
    assert.equal(logged.filter((line) => line.includes("was exchanged")).length, 1);
  });

  test("does not start with files that are no certificate", async (context) => {
    const listen = { host: "127.0.0.1", port: 0, tls: { certFile, keyFile } };
    const notThePair = /tls\.crt and .*tls\.key are no certificate and its key/;
    writeFileSync(certFile, "nothing");
    await assert.rejects(start(context, { listen }), notThePair);
    // A file that is just being written is empty for a moment.
    for (const file of [certFile, keyFile]) {
      write(issue("first"));
      writeFileSync(file, "");
      await assert.rejects(start(context, { listen }), notThePair);
    }
  });
});
