import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadPki } from "./pki.ts";

const now = new Date("2026-06-01T00:00:00Z");
const later = (days: number): Date => new Date(now.getTime() + days * 24 * 60 * 60 * 1000);

function inDirectory(work: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "capstan-pki-"));
  try {
    work(join(directory, "pki"));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("the secrets of a data directory", () => {
  it("are made once and kept", () => {
    inDirectory((directory) => {
      const first = loadPki(directory, now, ["localhost", "127.0.0.1"]);
      assert.deepEqual(loadPki(directory, later(1), ["localhost", "127.0.0.1"]), first);
      assert.ok(first.adminToken.length >= 43, "256 bits");
    });
  });

  it("differ between directories", () => {
    inDirectory((one) =>
      inDirectory((two) => {
        const [a, b] = [loadPki(one, now, ["localhost"]), loadPki(two, now, ["localhost"])];
        assert.notEqual(a.adminToken, b.adminToken);
        assert.notEqual(a.caCertificate, b.caCertificate);
        assert.notEqual(a.tokenKey, b.tokenKey);
      }),
    );
  });

  it("are for nobody else to read", () => {
    inDirectory((directory) => {
      loadPki(directory, now, ["localhost"]);
      assert.equal(statSync(directory).mode & 0o077, 0);
      for (const name of readdirSync(directory)) assert.equal(statSync(join(directory, name)).mode & 0o077, 0, name);
    });
  });

  it("renew the server's certificate before it ends, under the same authority", () => {
    inDirectory((directory) => {
      const first = loadPki(directory, now, ["localhost"]);
      const renewed = loadPki(directory, later(300), ["localhost"]);
      assert.equal(renewed.caCertificate, first.caCertificate);
      assert.notEqual(renewed.serverCertificate, first.serverCertificate);
      assert.ok(
        new X509Certificate(renewed.serverCertificate).verify(new X509Certificate(first.caCertificate).publicKey),
      );
    });
  });

  it("name the hosts that the server answers to, also when another one is added", () => {
    inDirectory((directory) => {
      loadPki(directory, now, ["localhost"]);
      const { serverCertificate } = loadPki(directory, now, ["localhost", "10.0.0.5"]);
      const certificate = new X509Certificate(serverCertificate);
      assert.equal(certificate.checkIP("10.0.0.5"), "10.0.0.5");
      assert.equal(certificate.checkHost("localhost"), "localhost");
    });
  });
});
