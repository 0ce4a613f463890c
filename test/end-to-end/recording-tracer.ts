import type { Context, Link, Span, SpanOptions, Tracer } from "@opentelemetry/api";
import { trace } from "@opentelemetry/api";

export interface RecordedSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  ended: boolean;
}

/** What an SDK would do, as far as tests look. */
export function recordingTracer(): { readonly tracer: Tracer; readonly spans: readonly RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, parent?: Context): Span => {
    const spanId = String(spans.length + 1).padStart(16, "0");
    const recorded: RecordedSpan = {
      name,
      spanId,
      parent: parent === undefined ? undefined : trace.getSpanContext(parent)?.spanId,
      links: (options.links ?? []).map((link: Link) => link.context.spanId),
      attributes: { ...options.attributes },
      ended: false,
    };
    spans.push(recorded);
    const span: Partial<Span> = {
      spanContext: () => ({ traceId: "1".repeat(32), spanId, traceFlags: 1 }),
      end: () => {
        recorded.ended = true;
      },
      recordException: () => undefined,
      setStatus: () => span as Span,
    };
    return span as Span;
  };
  return { tracer: { startSpan } as Tracer, spans };
}
