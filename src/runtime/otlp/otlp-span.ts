import {
  type Attributes,
  type AttributeValue,
  type Exception,
  type Link,
  type Span,
  type SpanContext,
  type SpanKind,
  type SpanStatus,
  SpanStatusCode,
  type TimeInput,
} from "@opentelemetry/api";

/** A span as OTLP's JSON encoding writes it. Times are decimal strings, because they do not fit into a JSON number. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly events: readonly {
    readonly name: string;
    readonly timeUnixNano: string;
    readonly attributes: readonly OtlpAttribute[];
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: readonly OtlpAttribute[];
  }[];
  readonly status: { readonly code: number; readonly message?: string };
}

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

export interface SpanStart {
  readonly context: SpanContext;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly links: readonly Link[];
  /** Milliseconds since 1970, with fractions. */
  readonly nowMs: () => number;
  readonly onEnd: (span: OtlpSpan) => void;
}

/** A span that is being recorded; after its end it takes nothing more. */
export class RecordingSpan implements Span {
  readonly #start: SpanStart;
  readonly #startMs: number;
  readonly #attributes: Record<string, AttributeValue | undefined>;
  readonly #events: { name: string; timeUnixNano: string; attributes: readonly OtlpAttribute[] }[] = [];
  readonly #links: Link[];
  #name: string;
  #status: SpanStatus = { code: SpanStatusCode.UNSET };
  #isEnded = false;

  constructor(start: SpanStart, startTime?: TimeInput) {
    this.#start = start;
    this.#name = start.name;
    this.#startMs = millisecondsOf(startTime, start.nowMs);
    this.#attributes = { ...start.attributes };
    this.#links = [...start.links];
  }

  spanContext(): SpanContext {
    return this.#start.context;
  }

  isRecording(): boolean {
    return !this.#isEnded;
  }

  setAttribute(key: string, value: AttributeValue): this {
    if (!this.#isEnded) this.#attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    if (!this.#isEnded) Object.assign(this.#attributes, attributes);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.#isEnded) return this;
    const attributes = isTime(attributesOrTime) ? {} : (attributesOrTime ?? {});
    const at = isTime(attributesOrTime) ? attributesOrTime : time;
    const timeUnixNano = nanoseconds(millisecondsOf(at, this.#start.nowMs));
    this.#events.push({ name, timeUnixNano, attributes: attributesOf(attributes) });
    return this;
  }

  addLink(link: Link): this {
    if (!this.#isEnded) this.#links.push(link);
    return this;
  }

  addLinks(links: Link[]): this {
    for (const link of links) this.addLink(link);
    return this;
  }

  setStatus(status: SpanStatus): this {
    if (!this.#isEnded) this.#status = status;
    return this;
  }

  updateName(name: string): this {
    if (!this.#isEnded) this.#name = name;
    return this;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const { name, message } = typeof exception === "string" ? { name: "Error", message: exception } : exception;
    this.addEvent("exception", { "exception.type": name ?? "Error", "exception.message": message ?? "" }, time);
  }

  end(endTime?: TimeInput): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { context, parentSpanId, kind, onEnd, nowMs } = this.#start;
    const { code, message } = this.#status;
    onEnd({
      traceId: context.traceId,
      spanId: context.spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name: this.#name,
      // The API counts from 0, the wire from 1.
      kind: kind + 1,
      startTimeUnixNano: nanoseconds(this.#startMs),
      endTimeUnixNano: nanoseconds(Math.max(this.#startMs, millisecondsOf(endTime, nowMs))),
      attributes: attributesOf(this.#attributes),
      events: this.#events,
      links: this.#links.map((link) => ({
        traceId: link.context.traceId,
        spanId: link.context.spanId,
        attributes: attributesOf(link.attributes ?? {}),
      })),
      status: { code, ...(message !== undefined && { message }) },
    });
  }
}

export const attributesOf = (attributes: Readonly<Record<string, AttributeValue | undefined>>): OtlpAttribute[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: wireValue(value) }]));

function wireValue(value: AttributeValue | null): OtlpValue {
  if (Array.isArray(value)) return { arrayValue: { values: value.map((item) => wireValue(item ?? null)) } };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  return { stringValue: String(value ?? "") };
}

const isTime = (value: unknown): value is TimeInput =>
  typeof value === "number" || value instanceof Date || (Array.isArray(value) && value.length === 2);

function millisecondsOf(time: TimeInput | undefined, nowMs: () => number): number {
  if (time === undefined) return nowMs();
  if (time instanceof Date) return time.getTime();
  return typeof time === "number" ? time : time[0] * 1_000 + time[1] / 1_000_000;
}

const nanoseconds = (milliseconds: number): string => {
  const whole = Math.floor(milliseconds);
  return `${whole}${String(Math.floor((milliseconds - whole) * 1_000_000)).padStart(6, "0")}`;
};
