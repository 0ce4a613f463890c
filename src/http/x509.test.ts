import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as der from "./der.ts";
import { createCertificateAuthority, createKeyPair, issueCertificate, keyPairOf } from "./x509.ts";

const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2060-01-01T00:00:00Z") };

test("lengths, numbers, identifiers and times are written as DER demands", () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
  assert.equal(hex(der.integer(Uint8Array.of(0))), "020100");
  assert.equal(hex(der.integer(Uint8Array.of(0, 0, 0x7f))), "02017f");
  assert.equal(hex(der.integer(Uint8Array.of(0x80))), "02020080");
  assert.equal(hex(der.objectIdentifier("1.2.840.10045.4.3.2")), "06082a8648ce3d040302");
  assert.equal(hex(der.octetString(new Uint8Array(200)).subarray(0, 3)), "0481c8");
  assert.equal(hex(der.octetString(new Uint8Array(70_000)).subarray(0, 5)), "0483011170");
  assert.equal(Buffer.from(der.time(new Date("2049-12-31T23:59:59.999Z"))).toString("latin1"), "\x17\x0d491231235959Z");
  assert.equal(Buffer.from(der.time(new Date("2050-01-01T00:00:00Z"))).toString("latin1"), "\x18\x0f20500101000000Z");
});

test("what was written can be read again, and bytes that end early are refused", () => {
  const inner = der.octetString(new Uint8Array(300));
  const [outer] = der.readElements(der.sequence(inner, der.boolean(true)));
  assert.deepEqual(
    der.readElements(outer?.content ?? new Uint8Array()).map(({ tag, content }) => [tag, content.length]),
    [
      [4, 300],
      [1, 1],
    ],
  );
  assert.throws(() => der.readElements(inner.subarray(0, 100)), RangeError);
});

test("a certificate names its subject, groups, hosts and addresses, and its authority vouches for it", () => {
  const authority = createCertificateAuthority({ subject: { commonName: "capstan-ca" }, validity });
  const issued = issueCertificate(authority, {
    subject: { commonName: "admin", organizations: ["system:masters", "Käse & Co"] },
    dnsNames: ["localhost", "*.svc.cluster.local"],
    ipAddresses: ["127.0.0.1", "::1", "fd00::10.0.0.1", "2001:db8:0:1:2:3:4:5"],
    usages: ["server", "client"],
    validity,
  });
  const parsed = new X509Certificate(issued.certificatePem);
  const root = new X509Certificate(authority.certificatePem);
  assert.equal(parsed.subject, "O=system:masters\nO=Käse & Co\nCN=admin");
  assert.equal(parsed.issuer, "CN=capstan-ca");
  assert.equal(
    parsed.subjectAltName,
    "DNS:localhost, DNS:*.svc.cluster.local, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, " +
      "IP Address:FD00:0:0:0:0:0:A00:1, IP Address:2001:DB8:0:1:2:3:4:5",
  );
  assert.deepEqual(parsed.keyUsage, ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
  assert.equal(parsed.ca, false);
  assert.equal(root.ca, true);
  assert.ok(parsed.checkIssued(root));
  assert.ok(parsed.verify(root.publicKey));
  assert.equal(parsed.validToDate.toISOString(), validity.notAfter.toISOString());
  assert.ok(parsed.checkPrivateKey(keyPairOf(issued.keyPem).privateKey));
});

test("the same keys and times give the same certificate, apart from the signature", () => {
  const keys = createKeyPair();
  const make = (): X509Certificate =>
    new X509Certificate(createCertificateAuthority({ subject: { commonName: "a" }, validity, keys }).certificatePem);
  assert.equal(make().serialNumber, make().serialNumber);
  const other = createCertificateAuthority({ subject: { commonName: "b" }, validity, keys });
  assert.notEqual(new X509Certificate(other.certificatePem).serialNumber, make().serialNumber);
});

test("an address that is none and a validity that ends before it begins are refused by name", () => {
  const authority = createCertificateAuthority({ subject: { commonName: "ca" }, validity });
  const options = { subject: { commonName: "x" }, usages: [], validity };
  assert.throws(
    () => issueCertificate(authority, { ...options, ipAddresses: ["10.0.0.256"] }),
    /ipAddresses.*10\.0\.0\.256/,
  );
  const backwards = { notBefore: validity.notAfter, notAfter: validity.notBefore };
  assert.throws(() => issueCertificate(authority, { ...options, validity: backwards }), /notAfter/);
});

const openssl = spawnSync("openssl", ["version"]).status === 0;

test("openssl verifies the chain for a host and a purpose", {
  skip: openssl ? false : "openssl is not installed",
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-x509-"));
  try {
    const authority = createCertificateAuthority({ subject: { commonName: "capstan-ca" }, validity });
    const issued = issueCertificate(authority, {
      subject: { commonName: "server" },
      dnsNames: ["localhost"],
      ipAddresses: ["127.0.0.1"],
      usages: ["server"],
      validity,
    });
    writeFileSync(join(folder, "ca.crt"), authority.certificatePem);
    writeFileSync(join(folder, "server.crt"), issued.certificatePem);
    const verify = (...args: string[]): number | null =>
      spawnSync("openssl", ["verify", "-x509_strict", "-CAfile", "ca.crt", ...args, "server.crt"], { cwd: folder })
        .status;
    assert.equal(verify("-purpose", "sslserver", "-verify_hostname", "localhost"), 0);
    assert.equal(verify("-verify_ip", "127.0.0.1"), 0);
    assert.notEqual(verify("-verify_hostname", "example.com"), 0);
    assert.notEqual(verify("-purpose", "sslclient"), 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
