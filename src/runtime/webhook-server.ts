import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import { listen } from "../http/server.ts";
import { type CertificatePair, type CertificateWatcher, watchCertificates } from "./certificates.ts";
import type { Logger } from "./log.ts";
import type { MetricsRegistry } from "./metrics.ts";

/** The TLS socket on which an API server finds webhooks. Its certificate may be replaced at any time, without a restart. */
export interface WebhookServer {
  readonly url: string;
  readonly port: number;
  /** Looks for a new certificate now; answers whether there was one. */
  refreshCertificate(): Promise<boolean>;
  close(): Promise<void>;
}

export interface WebhookServerOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly handler: HttpHandler;
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Asked at the start and again and again, such as `pemFiles("tls.crt", "tls.key")`; or one that stays. */
  readonly certificate: CertificatePair | (() => Promise<CertificatePair>);
  /** How late a new certificate may be noticed. */
  readonly lookEveryMs?: number;
}

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { env, log, metrics, handler, host, port, certificate, lookEveryMs } = options;
  let take: (pair: CertificatePair) => void = () => undefined;
  const watcher =
    typeof certificate === "function"
      ? await watchCertificates({
          env,
          log,
          metrics,
          read: certificate,
          onChange: (pair) => take(pair),
          ...(lookEveryMs !== undefined && { everyMs: lookEveryMs }),
        })
      : staying(certificate);
  try {
    const listener = await listen({
      env,
      handler,
      port,
      ...(host !== undefined && { host }),
      tls: watcher.current,
      // Whoever reaches us by any name must still show reviews, and learns nothing from the answer.
      isOurHost: () => true,
    });
    take = (pair) => listener.setCertificate(pair);
    // There may have been a new one while the socket was opened.
    take(watcher.current);
    return {
      url: listener.url,
      port: listener.port,
      refreshCertificate: () => watcher.check(),
      async close() {
        watcher.stop();
        await listener.close();
      },
    };
  } catch (error) {
    watcher.stop();
    throw error;
  }
}

const staying = (current: CertificatePair): CertificateWatcher => ({
  current,
  check: async () => false,
  stop: () => undefined,
});
