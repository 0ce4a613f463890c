import { generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificateAuthority, issueCertificate } from "../http/x509.ts";

/** The secrets of one data directory, made on first start and kept for good. */
export interface Pki {
  readonly caCertificate: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  /** Signs the tokens of ServiceAccounts. */
  readonly tokenKey: string;
  readonly adminToken: string;
}

const dayMs = 24 * 60 * 60 * 1000;
const authorityDays = 3650;
const serverDays = 365;
/** A server certificate is renewed when it has less than this left. */
const renewBeforeDays = 90;

export function loadPki(directory: string, now: Date, hosts: readonly string[]): Pki {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const file = (name: string): string => join(directory, name);
  if (!existsSync(file("ca.key"))) {
    const authority = createCertificateAuthority({
      subject: { commonName: "capstan" },
      validity: {
        notBefore: new Date(now.getTime() - dayMs),
        notAfter: new Date(now.getTime() + authorityDays * dayMs),
      },
    });
    // The key comes last: a start that was interrupted begins again.
    writeSecret(file("ca.crt"), authority.certificatePem);
    writeSecret(file("ca.key"), authority.keyPem);
  }
  const authority = {
    certificatePem: readFileSync(file("ca.crt"), "utf8"),
    keyPem: readFileSync(file("ca.key"), "utf8"),
  };
  if (!isUsable(file("server.crt"), authority.certificatePem, now, hosts) || !existsSync(file("server.key"))) {
    const issued = issueCertificate(authority, {
      subject: { commonName: "kube-apiserver" },
      validity: { notBefore: new Date(now.getTime() - dayMs), notAfter: new Date(now.getTime() + serverDays * dayMs) },
      usages: ["server"],
      dnsNames: hosts.filter((host) => !isAddress(host)),
      ipAddresses: hosts.filter(isAddress),
    });
    writeSecret(file("server.key"), issued.keyPem);
    writeSecret(file("server.crt"), issued.certificatePem);
  }
  return {
    caCertificate: authority.certificatePem,
    serverCertificate: readFileSync(file("server.crt"), "utf8"),
    serverKey: readFileSync(file("server.key"), "utf8"),
    tokenKey: readOrMake(file("sa.key"), newTokenKey),
    adminToken: readOrMake(file("admin.token"), () => randomBytes(32).toString("base64url")),
  };
}

const newTokenKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "prime256v1" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();

function isUsable(file: string, authority: string, now: Date, hosts: readonly string[]): boolean {
  if (!existsSync(file)) return false;
  const certificate = new X509Certificate(readFileSync(file));
  const expiresMs = Date.parse(certificate.validTo);
  return (
    expiresMs - now.getTime() > renewBeforeDays * dayMs &&
    Date.parse(certificate.validFrom) <= now.getTime() &&
    certificate.verify(new X509Certificate(authority).publicKey) &&
    hosts.every((host) => (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)
  );
}

function readOrMake(file: string, make: () => string): string {
  if (!existsSync(file)) writeSecret(file, make());
  return readFileSync(file, "utf8");
}

/** Whole or not at all, and for nobody else to read. */
export function writeSecret(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

const isAddress = (host: string): boolean => /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.includes(":");
