import { createHash, randomBytes } from "node:crypto";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import type { Env } from "../env/env.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { textReply } from "../http/reply.ts";
import { textOf } from "./person.ts";
import type { Sessions } from "./session.ts";

/** Sign-in with an OpenID Connect issuer that the cluster trusts, too: its ID token becomes the person's credential. */
export interface OidcSignIn {
  /** What the button says. */
  readonly title: string;
  /** `/ui/oidc/start` sends the browser to the issuer, `/ui/oidc/return` is where it comes back. */
  handle(request: HttpRequest, sessions: Sessions): Promise<HttpResponse>;
}

export interface OidcOptions {
  readonly env: Env;
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client; the exchange is bound to us by PKCE in any case. */
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  /** Where people reach the dashboard, such as `https://capstan.example.org`. */
  readonly publicUrl: string;
  readonly title?: string;
  /** Reaches the issuer; targets are whole URLs. */
  readonly fetch: HttpHandler;
}

/**
 * A sign-in that is under way is known to the browser alone, in a cookie: it may come back to any replica, and nobody can
 * make us keep anything by beginning. The answer is bound to that browser by its state and nonce, the code by its verifier.
 */
interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly expiresAtMs: number;
}

export const attemptLifetimeMs = 10 * 60 * 1000;

export function createOidcSignIn(options: OidcOptions): OidcSignIn {
  const { env, issuer, clientId, scopes = ["openid", "profile", "email", "groups"] } = options;
  const publicUrl = options.publicUrl.replace(/\/$/, "");
  const isSecure = publicUrl.startsWith("https:");
  const cookie = attemptCookie(isSecure);

  async function start(): Promise<HttpResponse> {
    const { authorization_endpoint: endpoint } = await discover(options);
    const attempt: Attempt = {
      state: secret(),
      nonce: secret(),
      verifier: secret(),
      expiresAtMs: env.now().getTime() + attemptLifetimeMs,
    };
    const url = new URL(endpoint);
    for (const [name, value] of Object.entries({
      response_type: "code",
      client_id: clientId,
      redirect_uri: `${publicUrl}/ui/oidc/return`,
      scope: scopes.join(" "),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: createHash("sha256").update(attempt.verifier).digest("base64url"),
      code_challenge_method: "S256",
    }))
      url.searchParams.set(name, value);
    return redirect(url.href, cookie.set(attempt));
  }

  async function comeBack(request: HttpRequest, sessions: Sessions): Promise<HttpResponse> {
    const query = new URL(request.target, publicUrl).searchParams;
    // The cookie ties the answer to the browser that asked: a link with somebody else's code signs nobody in.
    const attempt = cookie.read(request.headers["cookie"]);
    const isOurs = attempt !== undefined && query.get("state") === attempt.state;
    if (!isOurs || attempt.expiresAtMs <= env.now().getTime())
      return failed("the sign-in took too long or was not ours");
    const refused = query.get("error");
    if (refused !== null) return failed(query.get("error_description") ?? refused);
    const idToken = await exchange(query.get("code") ?? "", attempt);
    if (idToken === undefined) return failed("the issuer's answer could not be verified");
    const headers = { location: "/", "cache-control": "no-store", "referrer-policy": "no-referrer" };
    return textReply(303, "", { ...headers, "set-cookie": await sessions.open(idToken) });
  }

  async function exchange(code: string, { verifier, nonce }: Attempt): Promise<string | undefined> {
    const { token_endpoint: endpoint, jwks_uri: keysUrl } = await discover(options);
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: `${publicUrl}/ui/oidc/return`,
      client_id: clientId,
      code_verifier: verifier,
      ...(options.clientSecret !== undefined && { client_secret: options.clientSecret }),
    });
    const answer = await options.fetch({
      method: "POST",
      target: endpoint,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new TextEncoder().encode(form.toString()),
    });
    if (answer.status !== 200) return undefined;
    const { id_token: idToken } = JSON.parse(await textOf(answer)) as { id_token?: string };
    if (typeof idToken !== "string") return undefined;
    const keys = createLocalJWKSet((await getJson(options.fetch, keysUrl)) as JSONWebKeySet);
    try {
      const { payload } = await jwtVerify(idToken, keys, {
        issuer,
        audience: clientId,
        currentDate: env.now(),
        clockTolerance: 30,
        requiredClaims: ["exp", "nonce"],
      });
      return payload["nonce"] === nonce ? idToken : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    title: options.title ?? new URL(issuer).host,
    async handle(request, sessions) {
      const { pathname } = new URL(request.target, publicUrl);
      try {
        if (pathname === "/ui/oidc/start") return await start();
        if (pathname === "/ui/oidc/return") return await comeBack(request, sessions);
        return textReply(404, "not found\n");
      } catch (error) {
        return failed(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

interface Discovery {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
}

async function discover({ issuer, fetch }: OidcOptions): Promise<Discovery> {
  const found = await getJson(fetch, `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const { issuer: named } = found as { issuer?: string };
  if (named !== issuer) throw new Error(`the issuer calls itself ${named}, not ${issuer}`);
  return found as Discovery;
}

async function getJson(ask: HttpHandler, target: string): Promise<unknown> {
  const answer = await ask({ method: "GET", target, headers: { accept: "application/json" } });
  const text = await textOf(answer);
  if (answer.status !== 200) throw new Error(`${target} answered ${answer.status}`);
  return JSON.parse(text);
}

const secret = (): string => randomBytes(24).toString("base64url");

interface AttemptCookie {
  set(attempt: Attempt): string;
  read(header: string | undefined): Attempt | undefined;
}

/**
 * Lax, not strict: the issuer's page sends the browser back to us, and that must carry it. Where it is secure, the name's
 * prefix makes browsers refuse one that a neighbouring host has set, who could have somebody sign in as himself.
 */
function attemptCookie(isSecure: boolean): AttemptCookie {
  const name = `${isSecure ? "__Host-" : ""}capstan-sign-in`;
  const rest = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${attemptLifetimeMs / 1000}${isSecure ? "; Secure" : ""}`;
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]+)\\.([\\w-]+)\\.([\\w-]+)\\.(\\d{1,15})(?:;|$)`);
  return {
    set: ({ state, nonce, verifier, expiresAtMs }) => `${name}=${state}.${nonce}.${verifier}.${expiresAtMs}; ${rest}`,
    read(header) {
      const [, state, nonce, verifier, expiresAtMs] = pattern.exec(header ?? "") ?? [];
      if (state === undefined || nonce === undefined || verifier === undefined) return undefined;
      return { state, nonce, verifier, expiresAtMs: Number(expiresAtMs) };
    },
  };
}

const redirect = (location: string, cookie: string): HttpResponse =>
  textReply(303, "", { location, "set-cookie": cookie, "cache-control": "no-store", "referrer-policy": "no-referrer" });

const failed = (message: string): HttpResponse =>
  textReply(303, "", {
    location: `/#/sign-in-failed/${encodeURIComponent(message.slice(0, 200))}`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
