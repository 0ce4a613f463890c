import { ApiError } from "../client/api-error.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { bytesReply, jsonReply, textReply } from "../http/reply.ts";
import { StoreError } from "../store/store-error.ts";
import { forward } from "./forward.ts";
import { liveFeeds } from "./live.ts";
import { isAllowed, type ResourceAccess } from "./person.ts";
import { hostnameOf, isFromThisPage } from "./same-page.ts";
import type { Sessions } from "./session.ts";
import { type SignInWays, session, signInWithLink } from "./sign-in.ts";

/** The files of the page, by path (`/index.html`, `/assets/main.js`). */
export type Assets = ReadonlyMap<string, { readonly contentType: string; readonly body: Uint8Array }>;

/** Something that the page asks of a system and that the Kubernetes API does not answer by itself. */
export interface Question {
  /** What the person must be allowed in Kubernetes to be told; absent where everything is read as the person anyway. */
  needs?(rest: readonly string[]): ResourceAccess;
  /** Nothing when it does not exist. `asPerson` is the Kubernetes API as whoever asks. */
  answer(rest: readonly string[], asPerson: HttpHandler): unknown;
}

export interface DashboardOptions {
  readonly assets: Assets;
  readonly sessions: Sessions;
  /** The Kubernetes API; requests reach it as the person who is signed in, and as nobody else. */
  readonly api: HttpHandler;
  /** By the first part of the path below `/ui/api`; the rest of the path is the question. */
  readonly questions: Readonly<Record<string, Question>>;
  readonly signIn?: SignInWays;
  /** The names that people reach the page by; a request for any other is refused. Everything when absent. */
  readonly isOurHost?: (hostname: string) => boolean;
}

/** The page, sign-in, and the Kubernetes API under `/k8s`. Answers nothing for paths that are not the dashboard's. */
export function createDashboard(
  options: DashboardOptions,
): (request: HttpRequest) => Promise<HttpResponse | undefined> {
  const { sessions, api, signIn = {}, isOurHost = () => true } = options;
  return async (request) => {
    const url = URL.parse(request.target, "http://dashboard.invalid");
    if (!url) return undefined;
    const { pathname, search, searchParams } = url;
    const answer = route(pathname);
    if (answer && !isOurHost(hostnameOf(request)))
      return textReply(421, "This is not a name of the dashboard. See --dashboard-url.\n");
    return answer && orUnavailable(answer);

    function route(path: string): (() => Promise<HttpResponse> | HttpResponse) | undefined {
      if (path.startsWith("/k8s/"))
        return () =>
          signedIn(request, sessions, (credential) =>
            forward(request, path.slice("/k8s".length) + search, credential, api),
          );
      if (path === "/ui/api/session")
        return () => session(request, sessions, api, signIn, Object.keys(options.questions));
      if (path === "/ui/api/live")
        return () => signedIn(request, sessions, (credential) => liveFeeds(request, credential, api));
      if (path.startsWith("/ui/api/"))
        return () => signedIn(request, sessions, (credential) => ask(path, credential, options));
      if (request.method !== "GET" && request.method !== "HEAD") return undefined;
      const { oidc } = signIn;
      if (oidc && path.startsWith("/ui/oidc/")) return () => oidc.handle(request, sessions);
      const token = searchParams.get("token");
      if (path === "/" && token !== null) return () => signInWithLink(token, sessions);
      const asset = options.assets.get(path === "/" ? "/index.html" : path);
      return (
        asset &&
        (() =>
          bytesReply(200, asset.body, {
            ...pageHeaders,
            "content-type": asset.contentType,
            "cache-control": "no-cache",
          }))
      );
    }
  };
}

/** Sessions and the audit trail are in a database, and that may be away. */
async function orUnavailable(answer: () => Promise<HttpResponse> | HttpResponse): Promise<HttpResponse> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const message = "The database does not answer. Try again in a moment.";
    return jsonReply(503, { message }, { "cache-control": "no-store", "retry-after": "5" });
  }
}

/** Nothing from elsewhere, nothing inline, no text that becomes script, no framing. */
const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

async function ask(path: string, credential: string, { questions, api }: DashboardOptions): Promise<HttpResponse> {
  const parts = decodedParts(path.slice("/ui/api/".length));
  if (!parts) return jsonReply(400, { message: "The path is not well encoded." });
  const [topic = "", ...rest] = parts;
  const question = Object.hasOwn(questions, topic) ? questions[topic] : undefined;
  if (!question) return jsonReply(404, { message: "There is no such thing." });
  const needed = question.needs?.(rest);
  if (needed && !(await isAllowed(api, credential, needed))) return jsonReply(403, { message: missing(needed) });
  const asPerson: HttpHandler = (request) =>
    api({ ...request, headers: { ...request.headers, authorization: `Bearer ${credential}` } });
  const found = await Promise.resolve(question.answer(rest, asPerson)).catch((error: unknown) => {
    if (error instanceof ApiError) return new Refused(error.status, error.message);
    throw error;
  });
  if (found instanceof Refused) return jsonReply(found.status, { message: found.message });
  if (found === undefined) return jsonReply(404, { message: "There is no such thing." });
  return jsonReply(200, found, { "cache-control": "no-store", "x-content-type-options": "nosniff" });
}

class Refused {
  readonly status: number;
  readonly message: string;

  constructor(status: number, message: string) {
    this.status = status;
    this.message = message;
  }
}

const missing = ({ verb, resource, group, namespace }: ResourceAccess): string =>
  `This needs the verb "${verb}" on ${resource}.${group}${namespace ? ` in namespace ${namespace}` : ""}.`;

function decodedParts(path: string): readonly string[] | undefined {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

async function signedIn(
  request: HttpRequest,
  sessions: Sessions,
  answer: (credential: string) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (!isFromThisPage(request)) return jsonReply(403, { message: "This request came from another site." });
  const credential = await sessions.credentialOf(request.headers["cookie"]);
  if (credential === undefined) return jsonReply(401, { message: "Nobody is signed in." });
  return answer(credential);
}
