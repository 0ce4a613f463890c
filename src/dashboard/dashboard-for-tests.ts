import { type ApiServer, createApiServer } from "../apiserver/server.ts";
import { systemEnv } from "../env/system.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { type Assets, createDashboard, type DashboardOptions } from "./handler.ts";
import { memorySessions } from "./memory-sessions.ts";
import { textOf } from "./person.ts";
import { createSessions, type Sessions } from "./session.ts";

/** A dashboard before an embedded API that knows an administrator and a stranger who may do nothing. */
export interface TestDashboard {
  readonly sessions: Sessions;
  /** As the page itself would ask, with the session of the token's holder. */
  ask(method: string, target: string, options?: AskOptions): Promise<Answer>;
  /** The cookie header of a new session. */
  cookieOf(token: string): Promise<string>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly text: string;
}

export const ownHost = "127.0.0.1:8080";
const samePage = { host: ownHost, origin: `http://${ownHost}`, "sec-fetch-site": "same-origin" };

export async function startDashboard(options: Partial<DashboardOptions> = {}): Promise<TestDashboard> {
  const server = options.api ? undefined : await embeddedApi();
  const sessions = options.sessions ?? createSessions({ env: systemEnv, kept: memorySessions(systemEnv) });
  const api = options.api ?? server?.handle;
  if (!api) throw new Error("there is no API");
  const handle = createDashboard({ assets: pageAssets, questions: {}, ...options, sessions, api });
  const cookieOf = async (token: string): Promise<string> =>
    ((await sessions.open(token)).split(";", 1)[0] ?? "").trim();
  return {
    sessions,
    cookieOf,
    async ask(method, target, { as, headers = samePage, body, signal } = {}) {
      const request: HttpRequest = {
        method,
        target,
        headers: {
          ...headers,
          ...(as !== undefined && { cookie: await cookieOf(as) }),
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
        ...(signal && { signal }),
      };
      const response = await handle(request);
      if (!response) return { status: 0, headers: {}, text: "" };
      return { status: response.status, headers: response.headers, text: await textOf(response) };
    },
    close: async () => server?.close(),
  };
}

export const embeddedApi = (): Promise<ApiServer> =>
  createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [
      { token: "admin-token", user: { name: "admin", groups: ["system:masters"] } },
      { token: "stranger-token", user: { name: "stranger", groups: ["people"] } },
    ],
  });

const file = (text: string, contentType: string) => ({ contentType, body: new TextEncoder().encode(text) });

const pageAssets: Assets = new Map([
  ["/index.html", file("<!doctype html>", "text/html; charset=utf-8")],
  ["/assets/main.js", file("export {};", "text/javascript; charset=utf-8")],
]);

/** An API that answers everything alike and keeps what it was asked. */
export function recordingApi(answer: Partial<HttpResponse> = {}): {
  readonly api: HttpHandler;
  readonly asked: HttpRequest[];
} {
  const asked: HttpRequest[] = [];
  const api: HttpHandler = async (request) => {
    asked.push(request);
    return { status: 200, headers: {}, body: nothing(), ...answer };
  };
  return { api, asked };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
