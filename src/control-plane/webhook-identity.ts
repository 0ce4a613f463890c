import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { createCertificateAuthority, issueCertificate } from "../http/x509.ts";

/** PEM: what the webhook shows, and by whom an API server knows it. */
export interface WebhookIdentity {
  /** The authority of the certificate, and after a renewal also the one before it. */
  readonly caCertificate: string;
  readonly certificate: string;
  readonly key: string;
}

/** A certificate for these names by an authority that signs nothing else: its key is forgotten here. */
export function newWebhookIdentity(now: Date, names: readonly string[], lifetimeDays = 365): WebhookIdentity {
  const validity = {
    notBefore: new Date(now.getTime() - dayMs),
    notAfter: new Date(now.getTime() + lifetimeDays * dayMs),
  };
  // A name of its own: a verifier that knows two authorities of one name may try the wrong one and stop there.
  const commonName = `capstan-webhook-ca-${now.toISOString()}`;
  const authority = createCertificateAuthority({ subject: { commonName }, validity });
  const { certificatePem, keyPem } = issueCertificate(authority, {
    subject: { commonName: names[0] ?? "capstan-webhook" },
    validity,
    usages: ["server"],
    dnsNames: names.filter((name) => !isIP(name)),
    ipAddresses: names.filter((name) => isIP(name)),
  });
  return { caCertificate: authority.certificatePem, certificate: certificatePem, key: keyPem };
}

/** The next one, for the same names. The authority before it stays known, for replicas that still show the old one. */
export function renewedIdentity(old: WebhookIdentity, now: Date): WebhookIdentity {
  const { subjectAltName = "" } = new X509Certificate(old.certificate);
  const names = subjectAltName.split(", ").map((name) => name.replace(/^(DNS|IP Address):/, ""));
  const next = newWebhookIdentity(now, names);
  const before = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(old.caCertificate)?.[0] ?? "";
  return { ...next, caCertificate: `${next.caCertificate.trimEnd()}\n${before}\n` };
}

/** With a third of its life left, there is time for many attempts. */
export function isDueForRenewal({ certificate }: WebhookIdentity, now: Date): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  const lifeMs = validToDate.getTime() - validFromDate.getTime();
  return validToDate.getTime() - now.getTime() < lifeMs / 3;
}

export function isIdentityFor({ certificate }: WebhookIdentity, names: readonly string[]): boolean {
  const shown = new X509Certificate(certificate);
  return names.every((name) => (isIP(name) ? shown.checkIP(name) : shown.checkHost(name)) !== undefined);
}

const dayMs = 86_400_000;
