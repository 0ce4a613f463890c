import {
  context,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";

/**
 * Spans along the way of data: a watch event, the reconcile that it caused (linked, because several events may cause one),
 * and the writes inside (as children). Without an OpenTelemetry SDK all of this does nothing.
 */
export interface Tracing {
  /** Notes an event and answers what later spans link to, if anybody records. */
  event(name: string, attributes: Attributes): SpanContext | undefined;
  /** Runs the work in a span; children are made with `child`. */
  run<R>(
    name: string,
    attributes: Attributes,
    causes: readonly SpanContext[],
    work: (span: Span) => Promise<R>,
  ): Promise<R>;
  child<R>(parent: Span, name: string, attributes: Attributes, work: () => Promise<R>): Promise<R>;
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export function createTracing(tracer: Tracer = trace.getTracer("capstan")): Tracing {
  return {
    event(name, attributes) {
      const span = tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes, root: true });
      span.end();
      const spanContext = span.spanContext();
      return trace.isSpanContextValid(spanContext) ? spanContext : undefined;
    },
    run(name, attributes, causes, work) {
      const links: Link[] = causes.map((cause) => ({ context: cause }));
      const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, links, root: true });
      return ended(span, () => context.with(trace.setSpan(context.active(), span), () => work(span)));
    },
    child(parent, name, attributes, work) {
      const around = trace.setSpan(context.active(), parent);
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, around);
      return ended(span, () => context.with(trace.setSpan(around, span), work));
    },
  };
}

async function ended<R>(span: Span, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    span.recordException(error instanceof Error ? error : new Error(String(error)));
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
    throw error;
  } finally {
    span.end();
  }
}
