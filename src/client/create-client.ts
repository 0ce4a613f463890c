import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import { decodeAny, decodeObject, isRecord } from "./answers.ts";
import type { Client, RequestOptions, Scale, WatchOptions } from "./client.ts";
import type { ClientMetrics } from "./client-metrics.ts";
import { MalformedAnswerError } from "./connection-error.ts";
import { createDiscovery } from "./discovery.ts";
import { createExchange, type SendOptions } from "./exchange.ts";
import { listAll, listPages } from "./paged-list.ts";
import type { ProcessHold } from "./process-hold.ts";
import { createRateLimiter, type RateLimit } from "./rate-limiter.ts";
import {
  type ApiRequest,
  applyRequest,
  createRequest,
  deleteCollectionRequest,
  deleteRequest,
  evictRequest,
  getRequest,
  getScaleRequest,
  logRequest,
  patchRequest,
  rawRequest,
  setScaleRequest,
  tokenRequest,
  updateRequest,
  watchRequest,
} from "./requests.ts";
import { defaultRetryPolicy, type RetryPolicy } from "./retry.ts";
import { streamChunks } from "./stream.ts";
import { decodeWatch } from "./watch-stream.ts";

export interface ClientOptions {
  /** Over TLS to a cluster, or straight into the embedded API server. */
  readonly transport: HttpHandler;
  readonly env: Env;
  /** Who owns the fields that are written; a call may name another. */
  readonly fieldManager?: string;
  readonly userAgent?: string;
  /** The `host` label of metrics. */
  readonly host?: string;
  readonly metrics?: ClientMetrics;
  readonly retry?: Partial<RetryPolicy>;
  /** For one attempt of a request, and for the beginning of a stream. */
  readonly requestTimeoutMs?: number;
  readonly rateLimit?: RateLimit;
  /** Called for every warning of every answer. */
  readonly onWarning?: (warning: string, subject: string) => void;
  /** Keeps the process alive while a request waits; without a socket in between, nothing else would. */
  readonly hold?: ProcessHold;
}

/** Longer than the 60 s after which a Kubernetes API server gives up a request itself. */
export const defaultRequestTimeoutMs = 65_000;
/** A watch with a time limit that says nothing for this long beyond the limit has lost its server. */
const watchGraceMs = 30_000;

/** The client over any transport. */
export function createClient(options: ClientOptions): Client {
  const { env, transport, metrics = {}, host = "in-process", fieldManager = "capstan" } = options;
  const exchange = createExchange({
    transport,
    env,
    metrics,
    host,
    userAgent: options.userAgent ?? "capstan",
    retry: { ...defaultRetryPolicy, ...options.retry },
    requestTimeoutMs: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    ...(options.rateLimit && { rateLimiter: createRateLimiter(env, options.rateLimit, host, metrics) }),
    ...(options.onWarning && { onWarning: options.onWarning }),
    ...(options.hold && { hold: options.hold }),
  });
  const discovery = createDiscovery(exchange, env);
  const sendFor = async <T>(request: ApiRequest, sendOptions?: SendOptions): Promise<T> =>
    decodeObject(request, await exchange.send(request, sendOptions)) as T;
  const managed = <O extends { readonly fieldManager?: string }>(given: O | undefined): O & { fieldManager: string } =>
    Object.assign({}, given, { fieldManager: given?.fieldManager ?? fieldManager });

  return {
    get: async (kind, key, given) => sendFor(getRequest(kind, key, given), given),
    list: async (kind, given = {}) => listAll(exchange, kind, given),
    pages: (kind, given = {}) => listPages(exchange, kind, given),
    watch(kind, given = {}) {
      const request = watchRequest(kind, given);
      const chunks = streamChunks(exchange, env, request, {
        signal: given.signal,
        idleTimeoutMs: given.idleTimeoutMs ?? idleTimeoutOf(given),
      });
      return decodeWatch(chunks, {
        env,
        kind,
        metadataOnly: given.metadataOnly === true,
        request: `${request.method} ${request.target}`,
      });
    },
    create: async (kind, object, given) => sendFor(createRequest(kind, object, managed(given)), given),
    update: async (kind, object, given) => sendFor(updateRequest(kind, object, managed(given)), given),
    patch: async (kind, key, patch, given) => sendFor(patchRequest(kind, key, patch, managed(given)), given),
    apply: async (kind, object, given) => sendFor(applyRequest(kind, object, managed(given)), given),
    delete: async (kind, key, given) => sendFor(deleteRequest(kind, key, given), given),
    async deleteCollection(kind, given) {
      await exchange.send(deleteCollectionRequest(kind, given), given);
    },
    getScale: async (kind, key, given) => sendFor<Scale>(getScaleRequest(kind, key), given),
    setScale: async (kind, key, replicas, given) =>
      sendFor<Scale>(setScaleRequest(kind, key, replicas, managed(given)), given),
    log: (pod, given = {}) => streamChunks(exchange, env, logRequest(pod, given), { signal: given.signal }),
    async evict(pod, given) {
      await exchange.send(evictRequest(pod, given), given);
    },
    async createToken(serviceAccount, given) {
      const request = tokenRequest(serviceAccount, given);
      const answer: unknown = await sendFor(request, given);
      const status = isRecord(answer) ? answer["status"] : undefined;
      if (isRecord(status) && typeof status["token"] === "string") return status["token"];
      throw new MalformedAnswerError(`${request.subject}: status.token: Required value`);
    },
    discover: async (group, kind, given?: RequestOptions) => discovery.find(group, kind, given?.signal),
    async raw(given) {
      const request = rawRequest(given);
      return decodeAny(request, await exchange.send(request, given));
    },
  };
}

function idleTimeoutOf({ timeoutSeconds }: WatchOptions): number | undefined {
  return timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000 + watchGraceMs;
}
