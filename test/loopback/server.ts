import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type CertificateAuthority, createCertificateAuthority, issueCertificate } from "../../src/http/x509.ts";

/** A scripted HTTP(S) server on loopback with certificates of its own, for tests and benchmarks of the client. */
export interface LoopbackServer {
  readonly url: string;
  readonly port: number;
  readonly authority: CertificateAuthority;
  /** Connections that were ever opened. */
  readonly connections: () => number;
  readonly sockets: ReadonlySet<Socket>;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface LoopbackOptions {
  readonly tls?: boolean;
  readonly authority?: CertificateAuthority;
  readonly dnsNames?: readonly string[];
  readonly requestCert?: boolean;
  readonly port?: number;
  readonly answer: (request: SeenRequest, response: ServerResponse, raw: IncomingMessage) => void | Promise<void>;
}

export const validity = { notBefore: new Date("2025-01-01T00:00:00Z"), notAfter: new Date("2100-01-01T00:00:00Z") };
export const newAuthority = (): CertificateAuthority =>
  createCertificateAuthority({ subject: { commonName: "loopback-ca" }, validity });

export async function startServer(options: LoopbackOptions): Promise<LoopbackServer> {
  const authority = options.authority ?? newAuthority();
  const { certificatePem, keyPem } = issueCertificate(authority, {
    subject: { commonName: "loopback" },
    dnsNames: options.dnsNames ?? ["localhost"],
    ipAddresses: options.dnsNames ? [] : ["127.0.0.1"],
    usages: ["server"],
    validity,
  });
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url: target = "", headers } = request;
    const entry = { method, target, headers, body: Buffer.concat(chunks).toString("utf8") };
    seen.push(entry);
    await options.answer(entry, response, request);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // A request that breaks off is part of the script.
    onRequest(request, response).catch(() => response.destroy());
  };
  const server: Server =
    options.tls === false
      ? createHttpServer(listener)
      : createHttpsServer(
          {
            cert: certificatePem,
            key: keyPem,
            ...(options.requestCert && { ca: authority.certificatePem, requestCert: true, rejectUnauthorized: true }),
          },
          listener,
        );
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls === false ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    authority,
    connections: () => connections,
    sockets,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export function answerJson(response: ServerResponse, status: number, value: unknown, headers: object = {}): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
