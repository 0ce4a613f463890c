import type { Env } from "../env/env.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { type Logger, silentLogger } from "../runtime/log.ts";
import { MetricsRegistry } from "../runtime/metrics.ts";
import { StoreError } from "../store/store-error.ts";
import { type Access, identify } from "./access/access.ts";
import { judgeOrigin } from "./access/origin.ts";
import { type RateLimit, RateLimiter } from "./access/rate-limit.ts";
import { Feed } from "./feed/feed.ts";
import { emptyAnswer, errorAnswer, whole } from "./http/answers.ts";
import { isReadPath, read } from "./http/capabilities.ts";
import { discovery, discoveryPath, isDiscoveryPath } from "./http/discovery.ts";
import { health } from "./http/health.ts";
import { RegistryRequest, splitTarget } from "./http/request.ts";
import type { Identity } from "./model/command.ts";
import { defaultExpiryLimits } from "./model/expiry.ts";
import type { ServiceTarget } from "./model/service.ts";
import { defaultMaxStates } from "./model/state-history.ts";
import { RegistryCore } from "./registry-core.ts";
import { measureRegistry } from "./registry-metrics.ts";
import { type ResolveQuestion, Resolver } from "./resolve/resolver.ts";
import type { RegistryLog } from "./storage/registry-log.ts";

export interface RegistryOptions {
  readonly env: Env;
  readonly storage: RegistryLog;
  /** Made by `accessFor`, which refuses to leave a reachable registry open. */
  readonly access: Access;
  readonly log?: Logger;
  readonly metrics?: MetricsRegistry;
  readonly version?: string;
  /** 90 s: a service not heard of for so long is missing in action. */
  readonly missingAfterMs?: number;
  /** 10 min: and is deregistered after so long. */
  readonly deregisterAfterMs?: number;
  /** 1 h: after which its id is forgotten. */
  readonly forgetAfterMs?: number;
  /** 5 s: how late news of heartbeats from another replica may be. */
  readonly remoteToleranceMs?: number;
  /** 10 states are kept of each service. */
  readonly maxStates?: number;
  readonly maxServicesPerOwner?: number;
  readonly maxSubscribers?: number;
  /** Per identity; an open registry has no identities and no such limit. */
  readonly rateLimit?: RateLimit;
  /** Web pages of other origins that may use the registry. */
  readonly allowedOrigins?: readonly string[];
  /** The issuer's discovery document, handed on under `/q/oidc` to clients that know only the registry's address. */
  readonly oidcDocument?: () => Promise<unknown>;
  readonly beatSaveMs?: number;
  /** How many changes the log keeps for readers that resume. */
  readonly maxKeptChanges?: number;
  readonly keepAliveMs?: number;
}

export interface Registry {
  /** Answers nothing for paths that are not the registry's; at once where nothing has to be waited for. */
  answer(request: HttpRequest): MaybeAnswer | Promise<MaybeAnswer>;
  /** The same, for those who wait anyway. */
  handle(request: HttpRequest): Promise<MaybeAnswer>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The specification's ServiceResolver: a live service, or none. */
  resolve(question: ResolveQuestion): ServiceTarget | undefined;
  /** For the parts that live in this process: the mirror, probes, the command line. */
  readonly core: RegistryCore;
  readonly feed: Feed;
}

type MaybeAnswer = HttpResponse | undefined;

/** The service registry: who is registered, where, and whether it is alive. */
export function createRegistry(options: RegistryOptions): Registry {
  const { env, storage, access, log = silentLogger } = options;
  const core = new RegistryCore({
    env,
    storage,
    log,
    beatSaveMs: options.beatSaveMs ?? 2_000,
    maxKeptChanges: options.maxKeptChanges ?? 100_000,
    rules: {
      expiry: expiryOf(options),
      maxStates: options.maxStates ?? defaultMaxStates,
      maxServicesPerOwner: options.maxServicesPerOwner ?? (access.kind === "Open" ? 2_000_000 : 50_000),
    },
  });
  const feed = new Feed({ env, storage, recentChanges: 10_000, keepAliveMs: options.keepAliveMs ?? 15_000 });
  const resolver = new Resolver(core.directory, core.rules.expiry, () => core.now());
  const count = measureRegistry(options.metrics ?? new MetricsRegistry(), core, feed);
  const limiter = new RateLimiter(env, options.rateLimit ?? { perSecond: 5_000, burst: 20_000 });
  const write = discovery(core, env);
  const parts = {
    core,
    feed,
    resolver,
    version: options.version ?? "0.1.0",
    maxSubscribers: options.maxSubscribers ?? 10_000,
  };
  core.observe({
    onChanges: (changes) => feed.publish(changes),
    onPing: ({ instance }) => feed.ping(instance.target.id),
    onReset: () => feed.startAfter(core.directory.sequence),
  });

  const answer = (request: HttpRequest, path: string, search: string): HttpResponse | Promise<HttpResponse> => {
    const origin = judgeOrigin(request, options.allowedOrigins ?? []);
    if (origin.kind === "Foreign")
      return errorAnswer(403, `pages of ${JSON.stringify(origin.origin)} may not use this registry`);
    if (origin.kind === "Allowed" && request.method === "OPTIONS")
      return { ...emptyAnswer(204), headers: origin.headers };
    const identity = identify(access, request);
    const found =
      identity instanceof Promise
        ? identity.then(
            (by) => authorized(request, path, search, by),
            (error: unknown) => {
              log.warn("tokens cannot be checked", { error });
              return tokensUnchecked;
            },
          )
        : authorized(request, path, search, identity);
    if (origin.kind !== "Allowed") return found;
    return Promise.resolve(found).then((made) => ({ ...made, headers: { ...made.headers, ...origin.headers } }));
  };

  const authorized = (
    request: HttpRequest,
    path: string,
    search: string,
    by: Identity | undefined,
  ): HttpResponse | Promise<HttpResponse> => {
    if (!by) return unauthorized;
    if (access.kind === "Bearer" && !limiter.take(by.name))
      return errorAnswer(429, "too many requests by this identity", { "retry-after": "1" });
    if ((request.body?.byteLength ?? 0) > maxBodyBytes)
      return errorAnswer(413, `the body is larger than ${maxBodyBytes} bytes`);
    const asked = new RegistryRequest(request, path, search, by);
    return isDiscovery(path) ? write(asked) : read(asked, parts);
  };

  let last = { path: "", route: "unknown" };
  const counted = (path: string, found: HttpResponse): HttpResponse => {
    if (last.path !== path) last = { path, route: routeOf(path) };
    count(last.route, found.status);
    return found;
  };
  const quickly = (request: HttpRequest): MaybeAnswer | Promise<MaybeAnswer> => {
    const { path, search } = splitTarget(request.target);
    if (path.startsWith("/q/health")) return health(path, core);
    if (path === oidcPath && options.oidcDocument) return oidcAnswer(options.oidcDocument);
    if (!isOurs(path)) return undefined;
    try {
      const found = answer(request, path, search);
      if (!(found instanceof Promise)) return counted(path, found);
      return found.catch((error: unknown) => faultAnswer(error, log, path)).then((answered) => counted(path, answered));
    } catch (error) {
      return counted(path, faultAnswer(error, log, path));
    }
  };

  return {
    core,
    feed,
    resolve: (question) => resolver.resolve(question)?.toJSON(),
    start: () => core.start(),
    stop: () => core.stop(),
    answer: (request) => quickly(request),
    handle: async (request) => quickly(request),
  };
}

function expiryOf(options: RegistryOptions): typeof defaultExpiryLimits {
  const limits = {
    missingAfterMs: options.missingAfterMs ?? defaultExpiryLimits.missingAfterMs,
    deregisterAfterMs: options.deregisterAfterMs ?? defaultExpiryLimits.deregisterAfterMs,
    forgetAfterMs: options.forgetAfterMs ?? defaultExpiryLimits.forgetAfterMs,
    remoteToleranceMs: options.remoteToleranceMs ?? defaultExpiryLimits.remoteToleranceMs,
  };
  if (limits.missingAfterMs <= 0 || limits.deregisterAfterMs < limits.missingAfterMs)
    throw new RangeError(
      `a service must be missing before it is deregistered: missing after ${limits.missingAfterMs} ms, deregistered after ${limits.deregisterAfterMs} ms`,
    );
  return limits;
}

/** Where SDKs look for the issuer when they were not told where it is. */
const oidcPath = "/q/oidc/.well-known/openid-configuration";

const oidcAnswer = (document: () => Promise<unknown>): Promise<HttpResponse> =>
  document().then(
    (content) => whole(200, JSON.stringify(content)),
    () => errorAnswer(502, "the issuer does not answer"),
  );

const maxBodyBytes = 64 * 1024;

const unauthorized = errorAnswer(401, "a bearer token is required", { "www-authenticate": 'Bearer realm="registry"' });

/** Whoever knows whose a token is does not answer: nobody is let in, and asking again is right. */
const tokensUnchecked = errorAnswer(503, "tokens cannot be checked now", { "retry-after": "1" });

const isDiscovery = (path: string): boolean => path === discoveryPath || path.startsWith(`${discoveryPath}/`);

const ours = /^\/api\/v1\/(?:capabilities|resolve|management)(?:\/|$)/;
const isOurs = (path: string): boolean => path === "/api/v1/capabilities" || ours.test(path);

/** The path without what differs from service to service, and one word for what does not exist: strangers add no metrics. */
function routeOf(path: string): string {
  if (path.startsWith(`${discoveryPath}/update/`)) return `${discoveryPath}/update`;
  return isReadPath(path) || isDiscoveryPath(path) ? path : "unknown";
}

/** The store is away or full: nothing was changed, and asking again is safe. */
function faultAnswer(error: unknown, log: Logger, path: string): HttpResponse {
  const reason = error instanceof StoreError ? error.reason : "Bug";
  log.error("the registry could not answer", { path, reason, error });
  if (error instanceof StoreError)
    return errorAnswer(503, `the registry's store cannot take this now (${reason})`, { "retry-after": "1" });
  return errorAnswer(500, "Generic error");
}
