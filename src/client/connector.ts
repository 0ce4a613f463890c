import { lookup } from "node:dns";
import type { Socket } from "node:net";
import type { buildConnector as connectors } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import type { Env } from "../env/env.ts";
import type { ClientMetrics } from "./client-metrics.ts";
import type { ClientCertificate } from "./cluster-access.ts";
import { ConnectionError, type ConnectionReason } from "./connection-error.ts";
import { tunnelThrough } from "./proxy-tunnel.ts";

/**
 * Opens connections to the server, straight or through a proxy. Whatever fails here fails before a request is sent, and
 * says so.
 */
export interface TlsMaterial {
  readonly ca?: string;
  readonly certificate?: ClientCertificate;
}

export interface ConnectorOptions {
  readonly env: Env;
  readonly metrics: ClientMetrics;
  readonly server: URL;
  readonly serverName?: string | undefined;
  readonly skipVerify?: boolean | undefined;
  readonly proxyUrl?: string | undefined;
  readonly material: TlsMaterial;
}

type Connector = connectors.connector;

/** TCP, TLS and the proxy's consent together. */
const connectTimeoutMs = 10_000;
/** The kernel asks after a silent peer this early, so that a half-open connection is noticed without our help. */
const keepAliveProbeMs = 30_000;

export function createConnector(options: ConnectorOptions): Connector {
  const { server, serverName, material, proxyUrl } = options;
  const toServer = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveProbeMs,
    lookup: timedLookup(options),
    rejectUnauthorized: options.skipVerify !== true,
    ...(material.ca !== undefined && { ca: material.ca }),
    ...(material.certificate && { cert: material.certificate.certificate, key: material.certificate.key }),
  });
  const name = serverName === undefined ? {} : { servername: serverName };
  return (target, callback) => {
    const fail = (error: unknown): void => callback(failureOf(server, error), null);
    const secure = (httpSocket?: Socket): void => {
      try {
        toServer({ ...target, ...name, ...(httpSocket && { httpSocket }) }, (...[error, socket]) =>
          error ? fail(error) : callback(null, socket),
        );
      } catch (error) {
        // A certificate and a key that do not belong together, perhaps because only one of them is renewed yet.
        fail(error);
      }
    };
    if (proxyUrl === undefined) return secure();
    tunnelThrough(new URL(proxyUrl), { host: target.hostname, port: portOf(server) }, connectTimeoutMs).then(
      (socket) => (server.protocol === "https:" ? secure(socket) : callback(null, socket)),
      fail,
    );
  };
}

const portOf = (url: URL): number => Number(url.port || (url.protocol === "https:" ? 443 : 80));

function timedLookup({ env, metrics }: ConnectorOptions): typeof lookup {
  const timed = (hostname: string, options: object, callback: (...answer: unknown[]) => void): void => {
    const startedAtMs = env.monotonicMs();
    lookup(hostname, options, (...answer: unknown[]) => {
      metrics.nameResolved?.({ host: hostname, seconds: (env.monotonicMs() - startedAtMs) / 1000 });
      callback(...answer);
    });
  };
  return timed as typeof lookup;
}

function failureOf(server: URL, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const reason = reasonOf(codeOf(error));
  return new ConnectionError(`cannot connect to ${server.origin}: ${sentenceOf(error)}`, {
    reason,
    mayHaveBeenApplied: false,
    cause: error,
  });
}

export function reasonOf(code: string): ConnectionReason {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "NotResolved";
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "TimedOut";
  if (tlsCode.test(code)) return "TlsRejected";
  return code === "ECONNRESET" || code === "EPIPE" || code === "UND_ERR_SOCKET" ? "Broken" : "Refused";
}

const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|EPROTO)/;

/** Of several addresses that were tried, each failed for its own reason; the first one names the kind. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof AggregateError)) return error instanceof Error ? error.message : String(error);
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join("; ");
}
