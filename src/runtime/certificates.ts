import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { CancelTimer, Env } from "../env/env.ts";
import type { Logger } from "./log.ts";
import type { MetricsRegistry } from "./metrics.ts";

/** A serving certificate that may be replaced on disk at any time, as cert-manager and kubelet do it. */
export interface CertificateWatcher {
  /** The pair that was last read whole and fits together. */
  readonly current: CertificatePair;
  /** Looks now; answers whether there was a new pair. */
  check(): Promise<boolean>;
  stop(): void;
}

export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateWatcherOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly read: () => Promise<CertificatePair>;
  /** Called with every new pair; a TLS server takes it over for new connections. */
  readonly onChange: (pair: CertificatePair) => void;
  readonly everyMs?: number;
}

/** Reads the first pair, which must be good, and then looks for new ones until stopped. */
export async function watchCertificates(options: CertificateWatcherOptions): Promise<CertificateWatcher> {
  const { env, log, metrics, everyMs = defaultEveryMs } = options;
  const reads = metrics.counter({
    name: "certwatcher_read_certificate_total",
    help: "Total number of certificate reads",
  });
  const errors = metrics.counter({
    name: "certwatcher_read_certificate_errors_total",
    help: "Total number of certificate read errors",
  });
  errors.add(0);
  const readPair = async (): Promise<CertificatePair> => {
    reads.inc();
    try {
      const pair = await options.read();
      assertPair(pair);
      return pair;
    } catch (error) {
      errors.inc();
      throw error;
    }
  };

  let current = await readPair();
  let cancel: CancelTimer = () => undefined;
  let stopped = false;
  const check = async (): Promise<boolean> => {
    try {
      const pair = await readPair();
      if (pair.cert === current.cert && pair.key === current.key) return false;
      current = pair;
      log.info("the serving certificate was replaced", { notAfter: new X509Certificate(pair.cert).validTo });
      options.onChange(pair);
      return true;
    } catch (error) {
      // Often just half of a replacement; the old pair keeps serving, and the next look sees the rest.
      log.warn("the serving certificate could not be read; the old one stays", { error });
      return false;
    }
  };
  const schedule = (): void => {
    cancel = env.setTimer(everyMs, () => {
      void check().finally(() => {
        if (!stopped) schedule();
      });
    });
  };
  schedule();
  return {
    get current() {
      return current;
    },
    check,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** For `read`: two PEM files. */
export const pemFiles =
  (certPath: string, keyPath: string): (() => Promise<CertificatePair>) =>
  async () => {
    const [cert, key] = await Promise.all([readFile(certPath, "utf8"), readFile(keyPath, "utf8")]);
    return { cert, key };
  };

const defaultEveryMs = 10_000;

function assertPair({ cert, key }: CertificatePair): void {
  const certificate = new X509Certificate(cert);
  if (!certificate.checkPrivateKey(createPrivateKey(key))) {
    throw new Error(`the private key does not belong to the certificate of ${certificate.subject}`);
  }
}
