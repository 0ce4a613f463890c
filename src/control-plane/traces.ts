import { createOutsideFetch } from "../controllers/minecraft/outside-fetch.ts";
import type { Env } from "../env/env.ts";
import type { Logger } from "../runtime/log.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { createOtlpTracing } from "../runtime/otlp/otlp-tracing.ts";
import { createTracing, type Tracing } from "../runtime/tracing.ts";

/** Where traces go; without it none are made. */
export interface TraceSettings {
  /** The collector's address for OTLP over HTTP: `http://localhost:4318`. */
  readonly endpoint: string;
  /** The share of traces that is recorded. */
  readonly sampleRatio: number;
}

export interface TracingOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly version: string;
  readonly settings: TraceSettings | undefined;
}

export interface StartedTracing {
  readonly tracing: Tracing;
  stop(): Promise<void>;
}

export function startTracing({ env, log, metrics, version, settings }: TracingOptions): StartedTracing {
  if (settings === undefined) return { tracing: createTracing(), stop: async () => undefined };
  const { endpoint, sampleRatio } = settings;
  const outside = createOutsideFetch({ trustedUrls: [endpoint] });
  const otlp = createOtlpTracing({
    env,
    log,
    metrics,
    endpoint,
    sampleRatio,
    fetch: outside.fetch,
    service: { name: "capstan", version, instance: env.uuid() },
  });
  return {
    tracing: createTracing(otlp.tracer),
    async stop() {
      await otlp.stop();
      outside.close();
    },
  };
}
