import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import { type Listener, listen, type Refusal } from "../http/server.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { bodyLimitBytes } from "./pipeline.ts";
import { loadPki, writeSecret } from "./pki.ts";
import { respondNow, statusAnswer } from "./protocol/respond.ts";
import { bodyTooLarge, StatusError } from "./protocol/status-error.ts";
import { createApiServer } from "./server.ts";
import type { HistoryLimits } from "./storage/compactor.ts";
import type { PodLogs } from "./subresources/log.ts";
import { answerUpgrade } from "./upgrade.ts";

export interface StartOptions {
  readonly env: Env;
  readonly dataDir: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** 127.0.0.1 unless told otherwise; other addresses make the API reachable from outside. */
  readonly host?: string;
  /** Brought by whoever runs the containers; asked only when somebody reads a log. */
  readonly podLogs?: PodLogs;
  readonly history?: Partial<HistoryLimits>;
  /** How long Events are kept after they were last written; an hour unless told otherwise. */
  readonly eventTtlMs?: number;
}

export interface StartedApiServer {
  readonly url: string;
  readonly port: number;
  readonly kubeconfigPath: string;
  readonly caCertificate: string;
  readonly adminToken: string;
  /** The same server without a socket; callers bring their own credentials. */
  readonly handle: HttpHandler;
  stop(): Promise<void>;
}

/** The embedded API server on a TLS port, with everything that it needs in one directory. */
export async function startApiServer(options: StartOptions): Promise<StartedApiServer> {
  const { env, dataDir, host = "127.0.0.1" } = options;
  mkdirSync(dataDir, { recursive: true });
  const names = [...new Set(["localhost", "kubernetes.default.svc", "127.0.0.1", ...(isWildcard(host) ? [] : [host])])];
  const pki = loadPki(join(dataDir, "pki"), env.now(), names);
  let listener: Listener | undefined;
  const server = await createApiServer({
    tokens: [{ token: pki.adminToken, user: { name: "capstan-admin", groups: ["system:masters"] } }],
    tokenKey: pki.tokenKey,
    ...(options.podLogs && { podLogs: options.podLogs }),
    ...(options.history && { history: options.history }),
    ...(options.eventTtlMs !== undefined && { eventTtlMs: options.eventTtlMs }),
    env,
    file: join(dataDir, "api.db"),
    serverAddress: () => (listener ? `127.0.0.1:${listener.port}` : ""),
  });
  try {
    listener = await listen({
      env,
      handler: server.handle,
      host,
      port: options.port,
      tls: { key: pki.serverKey, cert: pki.serverCertificate, clientCa: pki.caCertificate },
      bodyLimitBytes,
      refuse,
      onUpgrade: answerUpgrade(server.handle),
      ...(isWildcard(host) && { isOurHost: () => true }),
    });
  } catch (error) {
    await server.close();
    throw error;
  }
  const { url, port, close } = listener;
  const published = server.publishAddress(isWildcard(host) ? "127.0.0.1" : host, port);
  const reachable = isWildcard(host) ? `https://127.0.0.1:${port}` : url;
  const kubeconfigPath = join(dataDir, "kubeconfig");
  writeSecret(
    kubeconfigPath,
    kubeconfigText({ url: reachable, caCertificate: pki.caCertificate, token: pki.adminToken }),
  );
  await published;
  return {
    url: reachable,
    port,
    kubeconfigPath,
    caCertificate: pki.caCertificate,
    adminToken: pki.adminToken,
    handle: server.handle,
    async stop() {
      await close();
      await server.close();
    },
  };
}

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";

function refuse(refusal: Refusal) {
  const error =
    refusal.kind === "BodyTooLarge"
      ? bodyTooLarge(refusal.limitBytes)
      : new StatusError(403, "Forbidden", `this server does not answer to the name ${JSON.stringify(refusal.host)}`);
  return respondNow(statusAnswer(error));
}
