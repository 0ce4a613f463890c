import type { Env } from "../../env/env.ts";
import type { HttpResponse } from "../../http/message.ts";
import { type Decoded, decodeState, decodeTarget } from "../dialects/decode.ts";
import { type Dialect, encodeTarget } from "../dialects/dialect.ts";
import type { Answer } from "../model/command.ts";
import type { RegistryCore } from "../registry-core.ts";
import { dataAnswer, emptyAnswer, errorAnswer } from "./answers.ts";
import { bodyJson, bodyText, type RegistryRequest } from "./request.ts";

export const discoveryPath = "/api/v1/management/discovery";

/** Whether somebody answers there; `/update/{id}` apart. */
export const isDiscoveryPath = (path: string): boolean =>
  path.startsWith(discoveryPath) && paths.has(path.slice(discoveryPath.length));
const paths: ReadonlySet<string> = new Set(["", "/heartbeats", "/register", "/deregister", "/ping"]);

/** Everything that services say of themselves: register, deregister, update, heartbeat, in three dialects. */
export function discovery(core: RegistryCore, env: Env): (request: RegistryRequest) => Promise<HttpResponse> {
  const routes: Readonly<Record<string, Route>> = {
    "POST ": { dialect: "b", act: register },
    "DELETE ": { dialect: "b", act: deregister },
    "POST /heartbeats": { dialect: "b", act: heartbeat },
    "POST /register": { dialect: "s", act: register },
    "POST /deregister": { dialect: "s", act: deregister },
    "POST /ping": { dialect: "s", act: heartbeat },
  };

  async function register(request: RegistryRequest, pathDialect: Dialect): Promise<HttpResponse> {
    const body = bodyJson(request.http);
    if (!body) return notJson();
    const decoded = decodeTarget(body.value, pathDialect);
    if (!decoded.ok) return undecodable(decoded);
    const { target, dialect } = decoded.value;
    const answer = await core.submit({ kind: "Register", target, newId: env.uuid(), by: request.by });
    if (answer.kind !== "Done") return refusal(answer);
    return dataAnswer(encodeTarget(answer.instance.target, dialect) ?? "null");
  }

  async function deregister(request: RegistryRequest, dialect: Dialect): Promise<HttpResponse> {
    const body = bodyJson(request.http);
    if (!body) return notJson();
    const id = (body.value as { id?: unknown } | null)?.id;
    // The original fails on a missing id in just this way, and on an unknown one not at all.
    if (typeof id !== "string" || id === "") return errorAnswer(500, "Generic error");
    const answer = await core.submit({ kind: "Deregister", id, by: request.by });
    return answer.kind === "Refused" ? refusal(answer) : done(dialect);
  }

  /** The bare id, the id in quotes, or (B's path only) a JSON array of ids; what the label says does not matter. */
  async function heartbeat(request: RegistryRequest, dialect: Dialect): Promise<HttpResponse> {
    const text = bodyText(request.http).trim();
    if (dialect === "b" && text.startsWith("[")) return bulk(request);
    const id = text.startsWith('"') ? unquoted(text) : text;
    if (id === "") return errorAnswer(400, "the body must be the id of a registered service");
    const answer = await core.ping(id, request.by);
    return answer.kind === "Refused" ? refusal(answer) : done(dialect);
  }

  async function bulk(request: RegistryRequest): Promise<HttpResponse> {
    const ids = bodyJson(request.http)?.value;
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string"))
      return errorAnswer(400, "the body must be a JSON array of ids");
    const unknown: string[] = [];
    const refused: string[] = [];
    const waiting: Promise<void>[] = [];
    const take = (id: string, answer: Answer): void => {
      if (answer.kind === "Unknown") unknown.push(id);
      if (answer.kind === "Refused") refused.push(id);
    };
    for (const id of ids as string[]) {
      const answer = core.ping(id, request.by);
      if (answer instanceof Promise) waiting.push(answer.then((late) => take(id, late)));
      else take(id, answer);
    }
    await Promise.all(waiting);
    const accepted = ids.length - unknown.length - refused.length;
    return dataAnswer(JSON.stringify({ accepted, unknown, refused }));
  }

  async function update(id: string, request: RegistryRequest): Promise<HttpResponse> {
    const body = bodyJson(request.http);
    if (!body) return notJson();
    const decoded = decodeState(body.value);
    if (!decoded.ok) return undecodable(decoded);
    const answer = await core.submit({ kind: "Report", id, ...decoded.value, by: request.by });
    return answer.kind === "Refused" ? refusal(answer) : emptyAnswer(200);
  }

  return async (request) => {
    const rest = request.path.slice(discoveryPath.length);
    const route = routes[`${request.method} ${rest}`];
    if (route) return route.act(request, route.dialect);
    const id = /^\/update\/([^/]+)$/.exec(rest)?.[1];
    if (id !== undefined)
      return request.method === "POST" ? update(percentDecoded(id), request) : wrongMethod(["POST"]);
    const allowed = Object.keys(routes).flatMap((key) => {
      const [method = "", path = ""] = key.split(" ");
      return path === rest ? [method] : [];
    });
    return allowed.length > 0 ? wrongMethod(allowed) : errorAnswer(404, `there is no ${request.path}`);
  };
}

interface Route {
  readonly dialect: Dialect;
  readonly act: (request: RegistryRequest, dialect: Dialect) => Promise<HttpResponse>;
}

/** A and S answer with an empty body, B with an empty envelope. */
const done = (dialect: Dialect): HttpResponse => (dialect === "b" ? dataAnswer("null") : emptyAnswer(200));

const notJson = (): HttpResponse => errorAnswer(400, "the body is not valid JSON");
const wrongMethod = (allowed: readonly string[]): HttpResponse =>
  errorAnswer(405, `use ${allowed.join(" or ")}`, { allow: allowed.join(", ") });

const undecodable = (decoded: Extract<Decoded<unknown>, { ok: false }>): HttpResponse =>
  decoded.kind === "WrongType" ? emptyAnswer(400) : errorAnswer(400, decoded.message);

const statuses = { NotOwner: 403, NameTaken: 409, TooManyServices: 429 } as const;

function refusal(answer: Exclude<Answer, { kind: "Done" }>): HttpResponse {
  if (answer.kind === "Unknown") return errorAnswer(404, "there is no such service");
  return errorAnswer(statuses[answer.reason], answer.message);
}

/** SDKs of 0.0.6 and 0.0.7 send the id as a JSON string. */
function unquoted(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    return text.replace(/^"|"$/g, "");
  }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
