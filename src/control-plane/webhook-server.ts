import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import { listen } from "../http/server.ts";
import { createCertificateAuthority, issueCertificate } from "../http/x509.ts";

/** The TLS socket on which an API server finds our admission webhooks. */
export interface WebhookServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** PEM: what the webhook shows, and by whom an API server knows it. */
export interface WebhookIdentity {
  readonly caCertificate: string;
  readonly certificate: string;
  readonly key: string;
}

export interface WebhookServerOptions {
  readonly env: Env;
  readonly handler: HttpHandler;
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly identity: WebhookIdentity;
}

export const startWebhookServer = ({
  env,
  handler,
  host,
  port,
  identity,
}: WebhookServerOptions): Promise<WebhookServer> =>
  listen({
    env,
    handler,
    port,
    ...(host !== undefined && { host }),
    tls: { cert: identity.certificate, key: identity.key },
    // Whoever reaches us by any name must still show reviews, and learns nothing from the answer.
    isOurHost: () => true,
  });

/**
 * A certificate for these names by an authority that signs nothing else: its key is forgotten here. It lives as long as
 * the installation; to replace it, take away what it is kept in.
 */
export function newWebhookIdentity(now: Date, names: readonly string[]): WebhookIdentity {
  const validity = {
    notBefore: new Date(now.getTime() - dayMs),
    notAfter: new Date(now.getTime() + lifetimeDays * dayMs),
  };
  const authority = createCertificateAuthority({ subject: { commonName: "capstan-webhook-ca" }, validity });
  const { certificatePem, keyPem } = issueCertificate(authority, {
    subject: { commonName: names[0] ?? "capstan-webhook" },
    validity,
    usages: ["server"],
    dnsNames: names.filter((name) => !isAddress(name)),
    ipAddresses: names.filter(isAddress),
  });
  return { caCertificate: authority.certificatePem, certificate: certificatePem, key: keyPem };
}

const isAddress = (name: string): boolean => /^\d+\.\d+\.\d+\.\d+$/.test(name) || name.includes(":");
const dayMs = 86_400_000;
const lifetimeDays = 3_650;
