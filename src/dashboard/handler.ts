import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { bytesReply, jsonReply, textReply } from "../http/reply.ts";
import type { Sessions } from "./session.ts";

/** The files of the page, by path (`/index.html`, `/assets/main.js`). */
export type Assets = ReadonlyMap<string, { readonly contentType: string; readonly body: Uint8Array }>;

export interface DashboardOptions {
  readonly assets: Assets;
  readonly sessions: Sessions;
  /** The Kubernetes API; requests reach it as the person who is signed in. */
  readonly api: HttpHandler;
  /** What the page asks of the systems, by the first part of the path below `/ui/api`; nothing when it does not exist. */
  readonly questions: Readonly<Record<string, (rest: readonly string[]) => unknown>>;
}

/** The page, sign-in, and the Kubernetes API under `/k8s`. Answers nothing for paths that are not the dashboard's. */
export function createDashboard({
  assets,
  sessions,
  api,
  questions,
}: DashboardOptions): (request: HttpRequest) => Promise<HttpResponse | undefined> {
  return async (request) => {
    const { pathname, searchParams } = new URL(request.target, "http://dashboard.invalid");
    if (pathname.startsWith("/k8s/"))
      return withSession(request, sessions, (credential) => forward(request, credential, api));
    if (pathname === "/ui/api/session") return session(request, sessions);
    if (pathname.startsWith("/ui/api/")) return withSession(request, sessions, async () => answer(pathname, questions));
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const token = searchParams.get("token");
    if (pathname === "/" && token !== null) return signIn(token, sessions);
    const asset = assets.get(pathname === "/" ? "/index.html" : pathname);
    return (
      asset &&
      bytesReply(200, asset.body, { ...pageHeaders, "content-type": asset.contentType, "cache-control": "no-cache" })
    );
  };
}

/** Nothing from elsewhere, nothing inline, no framing. */
const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

function answer(pathname: string, questions: DashboardOptions["questions"]): HttpResponse {
  const [topic = "", ...rest] = pathname.slice("/ui/api/".length).split("/").map(decodeURIComponent);
  const found = Object.hasOwn(questions, topic) ? questions[topic]?.(rest) : undefined;
  if (found === undefined) return jsonReply(404, { message: "There is no such thing." });
  return jsonReply(200, found, { "cache-control": "no-store" });
}

function signIn(token: string, sessions: Sessions): HttpResponse {
  const cookie = sessions.signIn(token);
  if (cookie) return textReply(303, "", { location: "/", "set-cookie": cookie, "referrer-policy": "no-referrer" });
  return textReply(303, "", { location: "/#sign-in-expired", "referrer-policy": "no-referrer" });
}

function session(request: HttpRequest, sessions: Sessions): HttpResponse {
  const cookie = request.headers["cookie"];
  if (request.method === "DELETE" && isFromThisPage(request))
    return jsonReply(200, {}, { "set-cookie": sessions.signOut(cookie) });
  return jsonReply(200, { signedIn: sessions.credentialOf(cookie) !== undefined }, { "cache-control": "no-store" });
}

async function withSession(
  request: HttpRequest,
  sessions: Sessions,
  answer: (credential: string) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const credential = sessions.credentialOf(request.headers["cookie"]);
  if (credential === undefined) return jsonReply(401, { message: "Sign in with the link that `capstan up` printed." });
  if (!isFromThisPage(request)) return jsonReply(403, { message: "This request came from another site." });
  return answer(credential);
}

/** Browsers state where a request comes from; one that says another site is refused, whatever its cookies. */
function isFromThisPage({ headers }: HttpRequest): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none";
}

function forward(request: HttpRequest, credential: string, api: HttpHandler): Promise<HttpResponse> {
  const { cookie: _, authorization: __, host: ___, origin: ____, ...headers } = request.headers;
  return api({
    ...request,
    target: request.target.slice("/k8s".length),
    headers: { ...headers, authorization: `Bearer ${credential}` },
  });
}
