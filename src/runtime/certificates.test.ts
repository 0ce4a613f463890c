import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { connect } from "node:tls";
import { createCertificateAuthority, issueCertificate } from "../http/x509.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { type CertificatePair, watchCertificates } from "./certificates.ts";
import { silentLogger } from "./log.ts";
import { MetricsRegistry } from "./metrics.ts";

const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2090-01-01T00:00:00Z") };
const authority = createCertificateAuthority({ subject: { commonName: "test authority" }, validity });
const issue = (commonName: string): CertificatePair => {
  const { certificatePem, keyPem } = issueCertificate(authority, {
    subject: { commonName },
    validity,
    usages: ["server"],
    dnsNames: ["localhost"],
  });
  return { cert: certificatePem, key: keyPem };
};

describe("certificates", () => {
  test("a new pair is taken over, half a pair is not, and the metrics tell", async () => {
    const env = manualEnv();
    const metrics = new MetricsRegistry();
    const [first, second] = [issue("first"), issue("second")];
    let onDisk: CertificatePair | Error = first;
    const changes: CertificatePair[] = [];
    const watcher = await watchCertificates({
      env,
      metrics,
      log: silentLogger,
      read: async () => {
        if (onDisk instanceof Error) throw onDisk;
        return onDisk;
      },
      onChange: (pair) => changes.push(pair),
    });
    await env.advance(30_000);
    assert.deepEqual(changes, []);
    for (const broken of [{ cert: second.cert, key: first.key }, { cert: "", key: "" }, new Error("ENOENT")]) {
      onDisk = broken;
      await env.advance(10_000);
    }
    assert.equal(watcher.current, first);
    onDisk = second;
    await env.advance(10_000);
    assert.deepEqual(changes, [second]);
    assert.equal(watcher.current, second);
    watcher.stop();
    await env.advance(60_000);
    const text = metrics.expose();
    assert.ok(text.includes("certwatcher_read_certificate_total 8\n"), text);
    assert.ok(text.includes("certwatcher_read_certificate_errors_total 3\n"));
  });

  test("the first pair must be good", async () => {
    const read = async (): Promise<CertificatePair> => ({ cert: issue("a").cert, key: issue("b").key });
    const options = {
      env: manualEnv(),
      metrics: new MetricsRegistry(),
      log: silentLogger,
      read,
      onChange: () => undefined,
    };
    await assert.rejects(watchCertificates(options), /the private key does not belong to the certificate of CN=a/);
  });

  test("a running TLS server changes its certificate without a restart, and open connections stay", async () => {
    const env = manualEnv();
    let pair = issue("first");
    const server = createServer(pair, (_, response) => response.end());
    const watcher = await watchCertificates({
      env,
      metrics: new MetricsRegistry(),
      log: silentLogger,
      read: async () => pair,
      onChange: (next) => server.setSecureContext(next),
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const peer = (): Promise<{ readonly name: string; end(): void }> =>
      new Promise((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: authority.certificatePem }, () =>
          resolve({ name: String(socket.getPeerCertificate().subject.CN), end: () => socket.destroy() }),
        );
        socket.on("error", reject);
      });
    const before = await peer();
    pair = issue("second");
    assert.equal(await watcher.check(), true);
    const after = await peer();
    assert.deepEqual([before.name, after.name], ["first", "second"]);
    before.end();
    after.end();
    watcher.stop();
    await new Promise((resolve) => server.close(resolve));
  });
});
