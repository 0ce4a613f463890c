import {
  type Context,
  context as contextApi,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Env } from "../../env/env.ts";
import type { HttpHandler } from "../../http/message.ts";
import type { Logger } from "../log.ts";
import type { MetricsRegistry } from "../metrics.ts";
import { attributesOf, type OtlpSpan, RecordingSpan } from "./otlp-span.ts";

/**
 * Sends spans to an OpenTelemetry collector with OTLP over HTTP, in its JSON encoding. Spans wait in a bounded queue and
 * leave in batches; when the collector is away or slow, spans are dropped and counted, and the work that they tell of is
 * never held up.
 */
export interface OtlpOptions {
  readonly env: Env;
  /** For whole URLs. */
  readonly fetch: HttpHandler;
  /** Of the collector: `http://localhost:4318`. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly service: { readonly name: string; readonly version: string; readonly instance: string };
  /** The share of traces that is recorded; 1 is all of them. */
  readonly sampleRatio?: number;
  readonly metrics: MetricsRegistry;
  readonly log: Logger;
}

export interface OtlpTracing {
  readonly tracer: Tracer;
  /** Sends what waits. */
  stop(): Promise<void>;
}

const queueLength = 4_096;
const batchLength = 512;
const batchDelayMs = 1_000;
const sendTimeoutMs = 10_000;

export function createOtlpTracing(options: OtlpOptions): OtlpTracing {
  const { env, sampleRatio = 1 } = options;
  const queue = createQueue(options);
  const beginMs = env.now().getTime() - env.monotonicMs();
  const nowMs = (): number => beginMs + env.monotonicMs();
  const hexadecimal = (): string => env.uuid().replaceAll("-", "");

  const startSpan = (name: string, given: SpanOptions = {}, around: Context = contextApi.active()): Span => {
    const parent = given.root ? undefined : trace.getSpanContext(around);
    const isRecorded = parent ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : env.random() < sampleRatio;
    const context: SpanContext = {
      traceId: parent?.traceId ?? hexadecimal(),
      // The last bits of a random UUID are random; the first carry its version.
      spanId: hexadecimal().slice(16),
      traceFlags: isRecorded ? TraceFlags.SAMPLED : TraceFlags.NONE,
    };
    if (!isRecorded) return trace.wrapSpanContext(context);
    return new RecordingSpan(
      {
        context,
        name,
        kind: given.kind ?? SpanKind.INTERNAL,
        attributes: given.attributes ?? {},
        links: given.links ?? [],
        ...(parent && { parentSpanId: parent.spanId }),
        nowMs,
        onEnd: (span) => queue.add(span),
      },
      given.startTime,
    );
  };
  const tracer: Tracer = {
    startSpan,
    startActiveSpan: (name: string, ...rest: readonly unknown[]) => {
      const work = rest.at(-1) as (span: Span) => unknown;
      const [given, around] = rest.slice(0, -1) as [SpanOptions?, Context?];
      const outer = around ?? contextApi.active();
      const span = startSpan(name, given, outer);
      return contextApi.with(trace.setSpan(outer, span), () => work(span));
    },
  } as Tracer;
  return { tracer, stop: () => queue.stop() };
}

interface Queue {
  add(span: OtlpSpan): void;
  stop(): Promise<void>;
}

function createQueue({ env, fetch: ask, endpoint, headers, service, metrics, log }: OtlpOptions): Queue {
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const spans = metrics.counter({
    name: "capstan_trace_spans_total",
    help: "Spans by what became of them.",
    labels: ["result"],
  });
  let waiting: OtlpSpan[] = [];
  let cancelTimer: (() => void) | undefined;
  let sending: Promise<void> | undefined;
  let isFailing = false;

  const send = async (batch: readonly OtlpSpan[]): Promise<void> => {
    const timeout = new AbortController();
    const cancel = env.setTimer(sendTimeoutMs, () => timeout.abort(new Error(`no answer within ${sendTimeoutMs} ms`)));
    try {
      const answer = await ask({
        method: "POST",
        target: url,
        headers: { "content-type": "application/json", ...headers },
        body: Buffer.from(JSON.stringify(requestOf(service, batch))),
        signal: timeout.signal,
      });
      for await (const _ of answer.body);
      if (answer.status >= 300) throw new Error(`the collector answered ${answer.status}`);
      spans.add(batch.length, { result: "sent" });
      isFailing = false;
    } catch (error) {
      spans.add(batch.length, { result: "failed" });
      // Said once; the counter tells how it goes on.
      if (!isFailing) log.warn("traces cannot be sent", { endpoint, error });
      isFailing = true;
    } finally {
      cancel();
    }
  };
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchLength);
      waiting = waiting.slice(batchLength);
      await send(batch);
    }
  };
  const flushSoon = (): void => {
    cancelTimer ??= env.setTimer(batchDelayMs, () => {
      cancelTimer = undefined;
      sending ??= flush().finally(() => {
        sending = undefined;
        if (waiting.length > 0) flushSoon();
      });
    });
  };
  return {
    add(span) {
      if (waiting.length >= queueLength) return spans.inc({ result: "dropped" });
      waiting.push(span);
      flushSoon();
    },
    async stop() {
      cancelTimer?.();
      await sending;
      await flush();
    },
  };
}

const requestOf = ({ name, version, instance }: OtlpOptions["service"], spans: readonly OtlpSpan[]): unknown => ({
  resourceSpans: [
    {
      resource: {
        attributes: attributesOf({ "service.name": name, "service.version": version, "service.instance.id": instance }),
      },
      scopeSpans: [{ scope: { name: "capstan", version }, spans }],
    },
  ],
});
