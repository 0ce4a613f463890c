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

export interface Connector {
  /** In the form that undici's pools ask for. */
  readonly connect: connectors.connector;
  /** Ends the attempts that have not led to a connection yet; nobody waits for them any more. */
  abandon(): void;
}

/** TCP, TLS and the proxy's consent together. */
const connectTimeoutMs = 10_000;
/** The kernel asks after a silent peer this early, so that a half-open connection is noticed without our help. */
const keepAliveProbeMs = 30_000;

export function createConnector(options: ConnectorOptions): Connector {
  const { env, server, serverName, material, proxyUrl } = options;
  const toServer = buildConnector({
    allowH2: false,
    timeout: 0,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveProbeMs,
    lookup: timedLookup(options),
    rejectUnauthorized: options.skipVerify !== true,
    ...(material.ca !== undefined && { ca: material.ca }),
    ...(material.certificate && { cert: material.certificate.certificate, key: material.certificate.key }),
  });
  const name = serverName === undefined ? {} : { servername: serverName };
  const attempts = new Set<Socket>();

  const secure = (target: connectors.Options, done: (error: unknown, socket?: Socket) => void): void => {
    let attempt: Socket | undefined;
    const cancelTimer = env.setTimer(connectTimeoutMs, () => attempt?.destroy(timedOut()));
    const settle = (error: unknown, socket?: Socket): void => {
      cancelTimer();
      if (attempt) attempts.delete(attempt);
      done(error, socket);
    };
    try {
      // undici answers the socket, though its types do not say so.
      attempt = toServer({ ...target, ...name }, (...[error, socket]) =>
        error ? settle(error) : settle(undefined, socket),
      ) as unknown as Socket;
      attempts.add(attempt);
    } catch (error) {
      // A certificate and a key that do not belong together, perhaps because only one of them is renewed yet.
      settle(error);
    }
  };

  return {
    abandon() {
      for (const attempt of attempts) attempt.destroy(new Error("given up"));
    },
    connect(target, callback) {
      const done = (error: unknown, socket?: Socket): void =>
        socket ? callback(null, socket) : callback(failureOf(server, error), null);
      if (proxyUrl === undefined) return secure(target, done);
      tunnelThrough(env, new URL(proxyUrl), { host: target.hostname, port: portOf(server) }, connectTimeoutMs).then(
        (httpSocket) =>
          server.protocol === "https:" ? secure({ ...target, httpSocket }, done) : done(undefined, httpSocket),
        done,
      );
    },
  };
}

const timedOut = (): Error =>
  Object.assign(new Error(`no connection within ${connectTimeoutMs} ms`), { code: "ETIMEDOUT" });

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
