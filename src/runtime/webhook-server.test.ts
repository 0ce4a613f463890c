/** A webhook server on a real socket, as an API server meets it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { createCertificateAuthority, issueCertificate } from "../http/x509.ts";
import type { KindRef } from "../kube/kind.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { pemFiles } from "./certificates.ts";
import { silentLogger } from "./log.ts";
import { MetricsRegistry } from "./metrics.ts";
import { createWebhookHandler, validator } from "./webhook.ts";
import { startWebhookServer, type WebhookServer } from "./webhook-server.ts";

const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2120-01-01T00:00:00Z") };
const authority = createCertificateAuthority({ subject: { commonName: "test-ca" }, validity });
const issue = (commonName: string) =>
  issueCertificate(authority, { subject: { commonName }, validity, usages: ["server"], dnsNames: ["hook.test.svc"] });

const Widget: KindRef = { group: "example.com", version: "v1", kind: "Widget", plural: "widgets", namespaced: true };
const refuseAll = validator({ path: "/validate", kind: Widget, validate: () => ["spec: nothing pleases me"] });

const env = manualEnv();
const metrics = new MetricsRegistry();
const handler = createWebhookHandler({ env, log: silentLogger, metrics, webhooks: [refuseAll] });
const serve = async (
  context: TestContext,
  certificate: Parameters<typeof startWebhookServer>[0]["certificate"],
): Promise<WebhookServer> => {
  const server = await startWebhookServer({ env, log: silentLogger, metrics, handler, port: 0, certificate });
  context.after(() => server.close());
  return server;
};

test("a certificate that is replaced on disk is shown to the next caller, and a call that is under way goes on", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-webhook-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const [certFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  const replace = (name: string): void => {
    const { certificatePem, keyPem } = issue(name);
    writeFileSync(certFile, certificatePem);
    writeFileSync(keyFile, keyPem);
  };
  replace("first");
  const server = await serve(context, pemFiles(certFile, keyFile));
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => kept.destroy());
  assert.deepEqual(await review(server, kept), { shown: "first", allowed: false, message: "spec: nothing pleases me" });

  replace("second");
  assert.equal(await server.refreshCertificate(), true);
  assert.equal((await review(server)).shown, "second");
  assert.equal((await review(server, kept)).shown, "first");

  writeFileSync(keyFile, issue("third").keyPem);
  assert.equal(await server.refreshCertificate(), false);
  assert.equal((await review(server)).shown, "second");
});

test("a certificate that stays is not looked for", async (context) => {
  const { certificatePem: cert, keyPem: key } = issue("only");
  const server = await serve(context, { cert, key });
  assert.equal((await review(server)).shown, "only");
  assert.equal(await server.refreshCertificate(), false);
});

test("a pair that does not belong together is no start", async () => {
  const certificate = async () => ({ cert: issue("one").certificatePem, key: issue("other").keyPem });
  await assert.rejects(
    startWebhookServer({ env, log: silentLogger, metrics, handler, port: 0, certificate }),
    /does not belong to the certificate/,
  );
});

interface Reviewed {
  /** The name on the certificate. */
  readonly shown: string;
  readonly allowed: boolean;
  readonly message?: string;
}

function review(server: WebhookServer, agent?: Agent): Promise<Reviewed> {
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "u-1",
      kind: { group: "example.com", version: "v1", kind: "Widget" },
      resource: { group: "example.com", version: "v1", resource: "widgets" },
      operation: "CREATE",
      userInfo: { username: "me" },
      object: { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "one" } },
    },
  });
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: server.port,
        path: "/validate?timeout=10s",
        method: "POST",
        servername: "hook.test.svc",
        ca: authority.certificatePem,
        agent: agent ?? new Agent(),
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      },
      (answer) => {
        const peer: PeerCertificate = (answer.socket as TLSSocket).getPeerCertificate();
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => {
          text += chunk;
        });
        answer.on("end", () => {
          const { response } = JSON.parse(text) as {
            response: { allowed: boolean; status?: { message: string } };
          };
          resolve({
            shown: String(peer.subject.CN),
            allowed: response.allowed,
            ...(response.status && { message: response.status.message }),
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
