// A webhook on loopback with a certificate of its own, for servers that run on the same machine.
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificateAuthority, issueCertificate } from "../../../src/http/x509.ts";

export interface WebhookServer {
  readonly url: string;
  /** As a clientConfig carries it. */
  readonly caBundle: string;
  readonly reviews: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

type Review = Readonly<Record<string, unknown>>;

const validity = { notBefore: new Date("2025-01-01T00:00:00Z"), notAfter: new Date("2100-01-01T00:00:00Z") };

export async function startWebhook(respond: (request: Review) => object): Promise<WebhookServer> {
  const authority = createCertificateAuthority({ subject: { commonName: "webhook-ca" }, validity });
  const { certificatePem, keyPem } = issueCertificate(authority, {
    subject: { commonName: "webhook" },
    validity,
    usages: ["server"],
    ipAddresses: ["127.0.0.1"],
    dnsNames: ["localhost"],
  });
  const reviews: Review[] = [];
  const server = createServer({ key: keyPem, cert: certificatePem }, async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { request } = JSON.parse(Buffer.concat(chunks).toString()) as { request: Review };
    reviews.push(request);
    const response = { uid: request["uid"], allowed: true, ...respond(request) };
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/review`,
    caBundle: Buffer.from(authority.certificatePem).toString("base64"),
    reviews,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
