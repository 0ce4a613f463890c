import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { HttpHandler, HttpResponse } from "../http/message.ts";
import { jsonReply } from "../http/reply.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { memorySessions } from "./memory-sessions.ts";
import { attemptLifetimeMs, createOidcSignIn, type OidcSignIn } from "./oidc.ts";
import { createSessions, type Sessions } from "./session.ts";

const issuer = "https://login.example";
const start = new Date("2026-01-01T00:00:00Z");

/** An issuer that hands out one token for the last code that was asked for. */
async function createIssuer() {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const stranger = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" };
  let claims: Record<string, unknown> = {};
  let isForged = false;
  let challenge = "";
  let isUsed = false;
  const fetch: HttpHandler = async ({ target, body }) => {
    const { pathname } = new URL(target);
    if (pathname === "/.well-known/openid-configuration")
      return jsonReply(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
      });
    if (pathname === "/keys") return jsonReply(200, { keys: [jwk] });
    const form = new URLSearchParams(new TextDecoder().decode(body));
    const verifier = form.get("code_verifier") ?? "";
    if (
      form.get("code") !== "good" ||
      isUsed ||
      createHash("sha256").update(verifier).digest("base64url") !== challenge
    )
      return jsonReply(400, { error: "invalid_grant" });
    isUsed = true;
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setIssuedAt(start)
      .setExpirationTime(new Date(start.getTime() + 3_600_000))
      .sign(isForged ? stranger.privateKey : privateKey);
    return jsonReply(200, { id_token: token });
  };
  return {
    fetch,
    expect(authorize: URL, more: Record<string, unknown> = {}, forged = false): void {
      challenge = authorize.searchParams.get("code_challenge") ?? "";
      claims = { iss: issuer, aud: "capstan", sub: "ann", nonce: authorize.searchParams.get("nonce"), ...more };
      isForged = forged;
    },
  };
}

const publicUrl = "https://capstan.example/";

async function setUp() {
  const env = manualEnv({ start });
  const own = await createIssuer();
  const oidc = createOidcSignIn({
    env,
    issuer,
    clientId: "capstan",
    publicUrl,
    fetch: own.fetch,
  });
  const sessions = createSessions({ env, kept: memorySessions(env), isSecure: true });
  return { env, own, oidc, sessions, ...(await begin(oidc, sessions)) };
}

async function begin(oidc: OidcSignIn, sessions: Sessions) {
  const sent = await oidc.handle({ method: "GET", target: "/ui/oidc/start", headers: {} }, sessions);
  assert.equal(sent.status, 303);
  const cookie = sent.headers["set-cookie"] ?? "";
  return {
    authorize: new URL(sent.headers["location"] ?? ""),
    cookie: cookie.split(";", 1)[0] ?? "",
    setCookie: cookie,
  };
}

const comeBack = (
  oidc: OidcSignIn,
  sessions: Sessions,
  query: Record<string, string>,
  cookie: string,
): Promise<HttpResponse> =>
  oidc.handle(
    { method: "GET", target: `/ui/oidc/return?${new URLSearchParams(query)}`, headers: { cookie } },
    sessions,
  );

test("the issuer's token becomes the session's credential", async () => {
  const { own, oidc, sessions, authorize, cookie, setCookie } = await setUp();
  assert.equal(`${authorize.origin}${authorize.pathname}`, `${issuer}/authorize`);
  assert.equal(authorize.searchParams.get("redirect_uri"), "https://capstan.example/ui/oidc/return");
  assert.equal(authorize.searchParams.get("code_challenge_method"), "S256");
  assert.match(setCookie, /^__Host-capstan-sign-in=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/);
  own.expect(authorize);
  const state = authorize.searchParams.get("state") ?? "";
  const back = await comeBack(oidc, sessions, { state, code: "good" }, cookie);
  assert.equal(back.headers["location"], "/");
  const credential = await sessions.credentialOf((back.headers["set-cookie"] ?? "").split(";", 1)[0]);
  assert.equal(credential?.split(".").length, 3);

  const again = await comeBack(oidc, sessions, { state, code: "good" }, cookie);
  assert.equal(again.headers["set-cookie"], undefined, "a code counts once, at the issuer");
});

test("whoever began at one replica may come back to another", async () => {
  const { env, own, sessions, authorize, cookie } = await setUp();
  const other = createOidcSignIn({ env, issuer, clientId: "capstan", publicUrl, fetch: own.fetch });
  own.expect(authorize);
  const state = authorize.searchParams.get("state") ?? "";
  const back = await comeBack(other, sessions, { state, code: "good" }, `other=1; ${cookie}; more=2`);
  assert.match(back.headers["set-cookie"] ?? "", /^__Host-capstan-session=/);
});

const refusals: readonly (readonly [string, (set: Awaited<ReturnType<typeof setUp>>) => Promise<HttpResponse>])[] = [
  [
    "the answer to somebody else's browser",
    ({ own, oidc, sessions, authorize }) => {
      own.expect(authorize);
      return comeBack(oidc, sessions, { state: authorize.searchParams.get("state") ?? "", code: "good" }, "");
    },
  ],
  [
    "a cookie that is not one of ours",
    ({ own, oidc, sessions, authorize }) => {
      own.expect(authorize);
      const state = authorize.searchParams.get("state") ?? "";
      return comeBack(oidc, sessions, { state, code: "good" }, `__Host-capstan-sign-in=${state}`);
    },
  ],
  [
    "a cookie that a neighbouring host may have set",
    ({ own, oidc, sessions, authorize, cookie }) => {
      own.expect(authorize);
      const state = authorize.searchParams.get("state") ?? "";
      return comeBack(oidc, sessions, { state, code: "good" }, cookie.replace("__Host-", ""));
    },
  ],
  [
    "a state that nobody asked with",
    ({ oidc, sessions, cookie }) => comeBack(oidc, sessions, { state: "made-up", code: "good" }, cookie),
  ],
  ...(
    [
      ["a code that the issuer does not know", { code: "bad" }, {}, false],
      ["a token for another nonce", { code: "good" }, { nonce: "other" }, false],
      ["a token for another client", { code: "good" }, { aud: "other" }, false],
      ["a token of another issuer", { code: "good" }, { iss: "https://evil.example" }, false],
      ["a token that somebody else has signed", { code: "good" }, {}, true],
      ["a refusal of the issuer", { code: "good", error: "access_denied" }, {}, false],
    ] as const
  ).map(
    ([name, query, claims, forged]) =>
      [
        name,
        ({ own, oidc, sessions, authorize, cookie }: Awaited<ReturnType<typeof setUp>>) => {
          own.expect(authorize, claims, forged);
          return comeBack(oidc, sessions, { state: authorize.searchParams.get("state") ?? "", ...query }, cookie);
        },
      ] as const,
  ),
  [
    "an answer that comes too late",
    async ({ env, own, oidc, sessions, authorize, cookie }) => {
      own.expect(authorize);
      await env.advance(attemptLifetimeMs);
      return comeBack(oidc, sessions, { state: authorize.searchParams.get("state") ?? "", code: "good" }, cookie);
    },
  ],
];

for (const [name, attempt] of refusals)
  test(`nobody is signed in by ${name}`, async () => {
    const answer = await attempt(await setUp());
    assert.equal(answer.headers["set-cookie"], undefined);
    assert.match(answer.headers["location"] ?? "", /^\/#\/sign-in-failed\//);
  });

test("an issuer that calls itself by another name is not believed", async () => {
  const fetch: HttpHandler = async () => jsonReply(200, { issuer: "https://evil.example" });
  const env = manualEnv();
  const oidc = createOidcSignIn({ env, issuer, clientId: "c", publicUrl: "https://c.example", fetch });
  const sessions = createSessions({ env, kept: memorySessions(env) });
  const answer = await oidc.handle({ method: "GET", target: "/ui/oidc/start", headers: {} }, sessions);
  assert.match(answer.headers["location"] ?? "", /^\/#\/sign-in-failed\//);
});
