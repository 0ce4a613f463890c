import type { Env } from "../env/env.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { jsonReply, textReply } from "../http/reply.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import {
  type AdmissionDecision,
  type AdmissionRequest,
  parseAdmissionReview,
  responseFor,
} from "./admission-review.ts";
import { type Conversion, convertReview } from "./conversion-review.ts";
import { jsonDifference } from "./json-difference.ts";
import type { Logger } from "./log.ts";
import type { MetricsRegistry } from "./metrics.ts";

/** Admission and conversion webhooks as an HttpHandler; who opens the TLS socket is not its business. */
export interface Webhook {
  /** `/validate-widgets` */
  readonly path: string;
  review(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionDecision>;
}

export interface WebhookOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly webhooks: readonly Webhook[];
  readonly conversions?: readonly { readonly path: string; readonly convert: Conversion }[];
  readonly timeoutMs?: number;
}

/** Answers the problems of an object; none lets it in. */
export interface Validator<T extends KubeObject> {
  readonly path: string;
  readonly kind: KindRef<T>;
  validate(review: TypedReview<T>): Promise<readonly string[]> | readonly string[];
}

/** Answers the object as it should be; the difference is sent as a JSON patch. */
export interface Mutator<T extends KubeObject> {
  readonly path: string;
  readonly kind: KindRef<T>;
  mutate(review: TypedReview<T> & { readonly object: T }): Promise<T> | T;
  /** Why it is not let in at all, whatever it could be made into. */
  objection?(review: TypedReview<T> & { readonly object: T }): string | undefined;
}

export interface TypedReview<T extends KubeObject> {
  readonly operation: AdmissionRequest["operation"];
  /** Absent on DELETE. */
  readonly object?: T;
  /** Absent on CREATE. */
  readonly oldObject?: T;
  readonly request: AdmissionRequest;
}

export function validator<T extends KubeObject>(definition: Validator<T>): Webhook {
  return {
    path: definition.path,
    async review(request) {
      const problems = await definition.validate(typedReview<T>(request, definition.kind));
      if (problems.length === 0) return { allowed: true };
      return { allowed: false, code: 403, reason: "Forbidden", message: problems.join("; ") };
    },
  };
}

export function mutator<T extends KubeObject>(definition: Mutator<T>): Webhook {
  return {
    path: definition.path,
    async review(request) {
      const review = typedReview<T>(request, definition.kind);
      const { object } = review;
      if (object === undefined) return { allowed: true };
      const message = definition.objection?.({ ...review, object });
      if (message !== undefined) return { allowed: false, code: 403, reason: "Forbidden", message };
      const wanted = await definition.mutate({ ...review, object });
      return { allowed: true, patch: jsonDifference(object, wanted) };
    },
  };
}

export function createWebhookHandler(options: WebhookOptions): HttpHandler {
  const metrics = webhookMetrics(options.metrics);
  const webhooks = new Map(options.webhooks.map((webhook) => [webhook.path, webhook]));
  const conversions = new Map((options.conversions ?? []).map(({ path, convert }) => [path, convert]));
  return async (request) => {
    const path = request.target.split("?")[0] ?? "";
    const webhook = webhooks.get(path);
    const convert = conversions.get(path);
    if (webhook === undefined && convert === undefined) return textReply(404, "there is no webhook here\n");
    metrics.inFlight.add(1, { webhook: path });
    const startedAtMs = options.env.monotonicMs();
    const response = await (webhook !== undefined
      ? reviewAdmission(options, webhook, request)
      : reviewConversion(convert as Conversion, request));
    metrics.inFlight.add(-1, { webhook: path });
    metrics.latency.observe((options.env.monotonicMs() - startedAtMs) / 1000, { webhook: path });
    metrics.total.inc({ webhook: path, code: String(response.status) });
    return response;
  };
}

async function reviewAdmission(options: WebhookOptions, webhook: Webhook, request: HttpRequest): Promise<HttpResponse> {
  const read = readJson(request);
  if (!read.ok) return read.response;
  const parsed = parseAdmissionReview(read.value);
  if (!parsed.ok) return textReply(400, `${parsed.message}\n`);
  try {
    const decision = await within(options.env, options.timeoutMs ?? defaultTimeoutMs, (signal) =>
      webhook.review(parsed.value, signal),
    );
    return jsonReply(200, responseFor(parsed.value, decision));
  } catch (error) {
    // Says no: what happens when a webhook cannot decide is the cluster's choice only if we do not answer at all.
    options.log.error("a webhook failed", {
      webhook: webhook.path,
      object: `${parsed.value.namespace ?? ""}/${parsed.value.name ?? ""}`,
      error,
    });
    const message = error instanceof Error ? error.message : String(error);
    return jsonReply(200, responseFor(parsed.value, { allowed: false, code: 500, reason: "InternalError", message }));
  }
}

async function reviewConversion(convert: Conversion, request: HttpRequest): Promise<HttpResponse> {
  const read = readJson(request);
  if (!read.ok) return read.response;
  const answer = convertReview(read.value, convert);
  return answer.ok ? jsonReply(200, answer.value) : textReply(400, `${answer.message}\n`);
}

type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly response: HttpResponse };

function readJson(request: HttpRequest): ReadJson {
  if (request.method !== "POST")
    return { ok: false, response: textReply(405, "only POST is understood here\n", { allow: "POST" }) };
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\b/.test(type)) {
    return { ok: false, response: textReply(415, `content-type ${JSON.stringify(type)} is not application/json\n`) };
  }
  try {
    return { ok: true, value: JSON.parse(Buffer.from(request.body ?? []).toString("utf8")) };
  } catch {
    return { ok: false, response: textReply(400, "the body is not JSON\n") };
  }
}

function typedReview<T extends KubeObject>(request: AdmissionRequest, kind: KindRef<T>): TypedReview<T> {
  if (request.kind.kind !== kind.kind || request.kind.group !== kind.group) {
    throw new Error(
      `this webhook reviews ${kind.kind} of group "${kind.group}", not ${request.kind.kind} of group "${request.kind.group}"`,
    );
  }
  return {
    operation: request.operation,
    ...(request.object !== undefined && { object: request.object as unknown as T }),
    ...(request.oldObject !== undefined && { oldObject: request.oldObject as unknown as T }),
    request,
  };
}

/** The API server waits at most 30 s; an answer after that is for nobody. */
const defaultTimeoutMs = 10_000;

async function within<R>(env: Env, limitMs: number, work: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const abort = new AbortController();
  const timedOut = new Promise<never>((_, reject) => {
    abort.signal.addEventListener("abort", () => reject(abort.signal.reason), { once: true });
  });
  timedOut.catch(() => undefined);
  const cancel = env.setTimer(limitMs, () => abort.abort(new Error(`no decision within ${limitMs} ms`)));
  try {
    return await Promise.race([work(abort.signal), timedOut]);
  } finally {
    cancel();
  }
}

function webhookMetrics(registry: MetricsRegistry) {
  return {
    latency: registry.histogram({
      name: "controller_runtime_webhook_latency_seconds",
      help: "Histogram of the latency of processing admission requests",
      labels: ["webhook"] as const,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    }),
    total: registry.counter({
      name: "controller_runtime_webhook_requests_total",
      help: "Total number of admission requests by HTTP status code.",
      labels: ["webhook", "code"] as const,
    }),
    inFlight: registry.gauge({
      name: "controller_runtime_webhook_requests_in_flight",
      help: "Current number of admission requests being served.",
      labels: ["webhook"] as const,
    }),
  };
}
