import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { jsonReply, textReply } from "../http/reply.ts";
import type { OidcSignIn } from "./oidc.ts";
import { recognize } from "./person.ts";
import { isFromThisPage } from "./same-page.ts";
import type { Sessions } from "./session.ts";

/** How people can sign in besides the one-time link. */
export interface SignInWays {
  /** A bearer token of the cluster can be pasted. */
  readonly token?: boolean;
  readonly oidc?: OidcSignIn;
}

/** `/ui/api/session`: who is signed in (GET), in with a token (POST), out (DELETE). */
export async function session(
  request: HttpRequest,
  sessions: Sessions,
  api: HttpHandler,
  ways: SignInWays,
  /** What else can be asked here, so that the page does not ask in vain. */
  questions: readonly string[],
): Promise<HttpResponse> {
  if (!isFromThisPage(request)) return jsonReply(403, { message: "This request came from another site." }, noStore);
  const cookie = request.headers["cookie"];
  switch (request.method) {
    case "GET":
      return jsonReply(
        200,
        { ...(await describe(await sessions.credentialOf(cookie), api, ways)), questions },
        noStore,
      );
    case "DELETE":
      return jsonReply(200, {}, { ...noStore, "set-cookie": await sessions.signOut(cookie) });
    case "POST":
      return ways.token === false ? methodNotAllowed() : signInWithToken(request, sessions, api);
    default:
      return methodNotAllowed();
  }
}

const noStore = { "cache-control": "no-store" };
const methodNotAllowed = (): HttpResponse => jsonReply(405, { message: "Use GET, POST or DELETE." }, noStore);

async function describe(credential: string | undefined, api: HttpHandler, ways: SignInWays): Promise<object> {
  const offered = { token: ways.token !== false, ...(ways.oidc && { oidc: ways.oidc.title }) };
  if (credential === undefined) return { signedIn: false, ways: offered };
  const recognition = await recognize(api, credential);
  if (recognition.kind === "Refused") return { signedIn: false, ways: offered, message: recognition.message };
  return { signedIn: true, ways: offered, ...recognition.person };
}

async function signInWithToken(request: HttpRequest, sessions: Sessions, api: HttpHandler): Promise<HttpResponse> {
  const token = tokenIn(request);
  if (token === undefined)
    return jsonReply(400, { message: "token: must be a bearer token, as `kubectl create token` prints it" }, noStore);
  const recognition = await recognize(api, token);
  if (recognition.kind === "Refused")
    return jsonReply(401, { message: `The cluster does not accept this token: ${recognition.message}` }, noStore);
  return jsonReply(200, recognition.person, { ...noStore, "set-cookie": await sessions.open(token) });
}

function tokenIn({ headers, body }: HttpRequest): string | undefined {
  if (!headers["content-type"]?.startsWith("application/json")) return undefined;
  try {
    const { token } = JSON.parse(new TextDecoder().decode(body)) as { token?: unknown };
    const text = typeof token === "string" ? token.trim().replace(/^Bearer +/i, "") : "";
    // What RFC 6750 lets a bearer token be made of; anything else could not be sent in a header.
    return text.length <= maxTokenLength && /^[A-Za-z0-9\-._~+/]+=*$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

const maxTokenLength = 16_384;

/** The link that the terminal prints. */
export async function signInWithLink(token: string, sessions: Sessions): Promise<HttpResponse> {
  const cookie = await sessions.signIn(token);
  const headers = { ...noStore, "referrer-policy": "no-referrer" };
  if (cookie) return textReply(303, "", { ...headers, location: "/", "set-cookie": cookie });
  return textReply(303, "", { ...headers, location: "/#/sign-in-expired" });
}
