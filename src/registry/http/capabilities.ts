import { WholeBody } from "../../http/body.ts";
import type { HttpResponse } from "../../http/message.ts";
import { encodeActivity } from "../dialects/activity.ts";
import { type Dialect, encodeTarget, encodeTargets, serviceTypeOfEnum } from "../dialects/dialect.ts";
import type { Feed } from "../feed/feed.ts";
import type { Entry } from "../model/entry.ts";
import { healthAt } from "../model/expiry.ts";
import { countHealth, type HealthCounts, type Search, search, searchWhole, stale } from "../model/queries.ts";
import { resourceProvider, toolInvoker } from "../model/service.ts";
import type { RegistryCore } from "../registry-core.ts";
import { isStrategyName, type ResolveQuestion, type Resolver, strategyNames } from "../resolve/resolver.ts";
import { dataAnswer, errorAnswer, listAnswer } from "./answers.ts";
import type { Query } from "./query.ts";
import { bodyJson, dialectOf, type RegistryRequest } from "./request.ts";

export interface ReadParts {
  readonly core: RegistryCore;
  readonly feed: Feed;
  readonly resolver: Resolver;
  readonly version: string;
  readonly maxSubscribers: number;
}

type Read = (request: RegistryRequest, dialect: Dialect, parts: ReadParts) => HttpResponse | Promise<HttpResponse>;

/** What people, command lines and dashboards ask. The paths are the same in all dialects. */
export function read(request: RegistryRequest, parts: ReadParts): HttpResponse | Promise<HttpResponse> {
  const byMethod = routes.get(request.path);
  if (!byMethod) return errorAnswer(404, `there is no ${request.path}`);
  const route = byMethod[request.method === "HEAD" ? "GET" : request.method];
  if (!route) {
    const allowed = Object.keys(byMethod);
    return errorAnswer(405, `use ${allowed.join(" or ")}`, { allow: allowed.join(", ") });
  }
  const dialect = request.search.includes("dialect") ? dialectOf(request.query) : "b";
  if (!dialect) return errorAnswer(400, "dialect: must be a, s or b");
  return route(request, dialect, parts);
}

/** Whether somebody answers there. */
export const isReadPath = (path: string): boolean => routes.has(path);

/** The hot path: a text of the directory leaves as it is, and nothing is left behind by reading. */
const list: Read = ({ query }, dialect, { core }) => {
  const asked = searchOf(query, dialect);
  const nowMs = core.monotonicMs();
  const whole = dialect === "a" ? undefined : searchWhole(core.directory, asked, nowMs, core.rules.expiry);
  if (whole !== undefined) return dataAnswer(whole.json, whole.isAscii);
  const found = search(core.directory, asked, nowMs, core.rules.expiry);
  return listAnswer(found, (part) => encodeTargets(part, dialect));
};

/** By service name, in order of registration. */
const states =
  (serviceType: string): Read =>
  (_request, dialect, { core }) => {
    const now = core.now();
    const byName: Record<string, unknown[]> = {};
    for (const entry of search(core.directory, { serviceType }, now.monotonicMs, core.rules.expiry)) {
      const name = entry.instance.target.serviceName;
      // A service may call itself __proto__; the key is still only a key.
      if (!Object.hasOwn(byName, name))
        Object.defineProperty(byName, name, { value: [], enumerable: true, writable: true, configurable: true });
      byName[name]?.push(encodeActivity(entry, dialect, now, core.rules.expiry));
    }
    return dataAnswer(JSON.stringify(byName));
  };

const notifications: Read = ({ http, method, query }, dialect, { feed, maxSubscribers }) => {
  // Who asks only for the headers has no body to wait for the end of.
  if (method === "HEAD") return { status: 200, headers: feedHeaders, body: new WholeBody("") };
  if (feed.subscribers >= maxSubscribers)
    return errorAnswer(503, `there are ${maxSubscribers} subscribers already`, { "retry-after": "5" });
  const isResumable = query.get("resume") === "true";
  const place = http.headers["last-event-id"] ?? query.get("lastEventId") ?? undefined;
  if (isResumable && place !== undefined && !/^\d{1,15}$/.test(place))
    return errorAnswer(400, "Last-Event-ID: must be the number of an event");
  const after = isResumable && place !== undefined ? { after: Number(place) } : {};
  const signal = http.signal ?? new AbortController().signal;
  return {
    status: 200,
    headers: feedHeaders,
    body: feed.subscribe({ dialect, isResumable, ...after, signal }),
  };
};

const feedHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
} as const;

const listStale: Read = ({ query }, _dialect, { core }) => {
  const found = staleOf(query, core);
  if (typeof found === "string") return errorAnswer(400, found);
  const { monotonicMs } = core.now();
  const rows = found.map((entry) => {
    const { id, serviceName, serviceType, host, port } = entry.instance.target;
    const healthStatus = healthAt(entry, monotonicMs, core.rules.expiry).toLowerCase();
    const lastSeen = entry.lastSeenMs === undefined ? null : new Date(entry.lastSeenMs).toISOString();
    return JSON.stringify({ id, serviceName, serviceType, host, port, healthStatus, lastSeen });
  });
  return listAnswer(rows, (part) => part.join(","));
};

const removeStale: Read = async ({ query, by }, _dialect, { core }) => {
  const found = staleOf(query, core);
  if (typeof found === "string") return errorAnswer(400, found);
  let removed = 0;
  for (let start = 0; start < found.length; start += removalsAtOnce) {
    const part = found.slice(start, start + removalsAtOnce);
    const answers = await Promise.all(
      part.map(({ instance }) => core.submit({ kind: "Remove", id: instance.target.id, by })),
    );
    // What others own is passed over, not refused: the rest of the clean-up is still wanted.
    removed += answers.filter(({ kind }) => kind === "Done").length;
  }
  return dataAnswer(String(removed));
};

/** The store's queue is everybody's: a great clean-up takes only a part of it. */
const removalsAtOnce = 5_000;

function staleOf(query: Query, core: RegistryCore): readonly Entry[] | string {
  const age = query.get("maxAgeSeconds") ?? "86400";
  if (!/^\d{1,12}$/.test(age)) return "maxAgeSeconds: must be a number of seconds";
  return stale(core.directory, Number(age) * 1000, query.get("inactiveOnly") === "true", core.now(), core.rules.expiry);
}

const fleet: Read = (_request, _dialect, { core }) => {
  const counts = countHealth(core.directory.registered(), core.now().monotonicMs, core.rules.expiry);
  const warning = counts.UNHEALTHY + counts.PENDING;
  const overall = counts.DOWN > 0 ? "Down" : warning > 0 ? "Warning" : "Healthy";
  return dataAnswer(
    JSON.stringify({ total: counts.total, healthy: counts.HEALTHY, warning, down: counts.DOWN, overall }),
  );
};

const versionInfo: Read = (_request, _dialect, { version }) => dataAnswer(JSON.stringify({ version }));

const statistics: Read = (_request, _dialect, { core }) => {
  const counted = (serviceType: string): HealthCounts => {
    const { monotonicMs } = core.now();
    const found = search(core.directory, { serviceType }, monotonicMs, core.rules.expiry);
    return countHealth(found, monotonicMs, core.rules.expiry);
  };
  const json = (counts: HealthCounts): object => ({
    total: counts.total,
    healthy: counts.HEALTHY,
    unhealthy: counts.UNHEALTHY,
    down: counts.DOWN,
    pending: counts.PENDING,
  });
  // Tools, resources and the like live with the services; this registry knows only who offers them.
  return dataAnswer(
    JSON.stringify({
      toolsCount: 0,
      resourcesCount: 0,
      promptsCount: 0,
      forwardsCount: 0,
      dataStoresCount: 0,
      toolCapabilities: json(counted(toolInvoker)),
      resourceCapabilities: json(counted(resourceProvider)),
    }),
  );
};

const resolve: Read = ({ query }, dialect, { core, resolver }) => {
  const strategy = query.get("strategy") ?? "first-available";
  if (!isStrategyName(strategy)) return errorAnswer(400, `strategy: must be one of ${strategyNames.join(", ")}`);
  const question: ResolveQuestion = { ...searchOf(query, dialect), strategy };
  if (question.serviceName === undefined && question.serviceType === undefined)
    return errorAnswer(400, "serviceName or serviceType: is required");
  const target = resolver.resolve(question);
  const json = target && encodeTarget(target, dialect);
  return json === undefined ? errorAnswer(404, whyNone(question, core)) : dataAnswer(json);
};

/** Nobody there is told in the original's words; somebody there who cannot be used is another matter. */
function whyNone(question: ResolveQuestion, core: RegistryCore): string {
  const name = question.serviceName ?? question.serviceType;
  const { monotonicMs } = core.now();
  const found = search(core.directory, question, monotonicMs, core.rules.expiry);
  if (found.length === 0) return `There is no host registered for service ${name}`;
  const { HEALTHY, PENDING, UNHEALTHY, DOWN } = countHealth(found, monotonicMs, core.rules.expiry);
  if (HEALTHY + PENDING > 0) return `service ${name} is of a type that this dialect has no word for`;
  return `There is no live host for service ${name}: ${UNHEALTHY} unhealthy, ${DOWN} down`;
}

/** Many questions at once, for whoever has many: an array of them, answered by an array of targets and nulls. */
const resolveAll: Read = ({ http }, dialect, { resolver }) => {
  const questions = bodyJson(http)?.value;
  if (!Array.isArray(questions) || !questions.every(isQuestion))
    return errorAnswer(400, "the body must be a JSON array of objects with serviceName, serviceType or both");
  const answers = questions.map((question) => {
    const target = resolver.resolve(question);
    return (target && encodeTarget(target, dialect)) ?? "null";
  });
  return dataAnswer(`[${answers.join(",")}]`);
};

function isQuestion(value: unknown): value is ResolveQuestion {
  if (typeof value !== "object" || value === null) return false;
  const { serviceName, serviceType, serviceSubType, languageName, strategy } = value as Record<string, unknown>;
  const isText = (field: unknown): boolean => field === undefined || typeof field === "string";
  return (
    (serviceName !== undefined || serviceType !== undefined) &&
    [serviceName, serviceType, serviceSubType, languageName].every(isText) &&
    (strategy === undefined || (typeof strategy === "string" && isStrategyName(strategy)))
  );
}

function searchOf(query: Query, dialect: Dialect): Search {
  const given = (field: string): string | undefined => query.get(field) || undefined;
  const serviceType = given("serviceType");
  return {
    serviceName: given("serviceName"),
    // Who speaks A knows the types by A's names.
    serviceType:
      dialect === "a" && serviceType !== undefined ? (serviceTypeOfEnum(serviceType) ?? serviceType) : serviceType,
    serviceSubType: given("serviceSubType"),
    languageName: given("languageName"),
  };
}

const routes: ReadonlyMap<string, Readonly<Record<string, Read>>> = new Map(
  Object.entries<Readonly<Record<string, Read>>>({
    "/api/v1/capabilities": { GET: list },
    "/api/v1/capabilities/tools/state": { GET: states(toolInvoker) },
    "/api/v1/capabilities/resources/state": { GET: states(resourceProvider) },
    "/api/v1/capabilities/notifications": { GET: notifications },
    "/api/v1/capabilities/stale": { GET: listStale, DELETE: removeStale },
    "/api/v1/capabilities/fleet/status": { GET: fleet },
    "/api/v1/management/info/version": { GET: versionInfo },
    "/api/v1/management/statistics": { GET: statistics },
    "/api/v1/resolve": { GET: resolve, POST: resolveAll },
  }),
);
