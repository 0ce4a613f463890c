import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { manualEnv } from "../../testing/manual-env.ts";
import type { Identity } from "../model/command.ts";
import { discoveryPath, registryWorld } from "../registry-for-tests.ts";
import { type Access, type Authenticator, accessFor } from "./access.ts";
import { oidcTokens } from "./oidc.ts";
import { parseTokens, readTokenFile } from "./token-file.ts";
import { reviewedTokens } from "./token-review.ts";

const known = (tokens: Readonly<Record<string, Identity>>): Access => ({
  kind: "Bearer",
  authenticators: [{ authenticate: async (token) => tokens[token] }],
});
const alice: Identity = { name: "alice", namespace: "team-a", isAdministrator: false };
const mallory: Identity = { name: "mallory", namespace: null, isAdministrator: false };
const root: Identity = { name: "root", namespace: null, isAdministrator: true };
const access = known({ a: alice, m: mallory, r: root });
const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

describe("where the registry listens", () => {
  test("decides: open on loopback, with tokens elsewhere, refused without", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) assert.equal(accessFor(host, []).kind, "Open");
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.com", "127.0.0.1.example.com"])
      assert.throws(() => accessFor(host, []), /open to everyone/);
    const some: Authenticator = { authenticate: async () => undefined };
    assert.equal(accessFor("127.0.0.1", [some]).kind, "Bearer");
  });

  test("an open registry does not even look at a token", async () => {
    const world = await registryWorld(manualEnv());
    assert.equal((await world.call("GET", "/api/v1/capabilities", undefined, as("nonsense"))).status, 200);
  });
});

describe("S12: a registry with tokens", () => {
  const endpoints: readonly (readonly [string, string])[] = [
    ["POST", discoveryPath],
    ["DELETE", discoveryPath],
    ["POST", `${discoveryPath}/heartbeats`],
    ["POST", `${discoveryPath}/register`],
    ["POST", `${discoveryPath}/deregister`],
    ["POST", `${discoveryPath}/ping`],
    ["POST", `${discoveryPath}/update/x`],
    ["GET", "/api/v1/capabilities"],
    ["GET", "/api/v1/capabilities/notifications"],
    ["GET", "/api/v1/capabilities/tools/state"],
    ["DELETE", "/api/v1/capabilities/stale"],
    ["GET", "/api/v1/resolve"],
  ];
  for (const [method, path] of endpoints)
    for (const [name, headers] of [
      ["no token", {}],
      ["a wrong token", as("wrong")],
      ["a password", { authorization: "Basic YTpi" }],
    ] as const)
      test(`${method} ${path} with ${name} is 401, in JSON, and not a redirect`, async () => {
        const world = await registryWorld(manualEnv(), { access });
        const called = await world.call(method, path, "{}", headers);
        assert.equal(called.status, 401);
        assert.match(called.message ?? "", /bearer token/);
        assert.match(called.headers["www-authenticate"] ?? "", /^Bearer/);
      });

  test("health is open to every probe", async () => {
    const world = await registryWorld(manualEnv(), { access });
    assert.equal((await world.call("GET", "/q/health")).status, 200);
  });

  test("an identity owns what it registered; others cannot touch it, administrators can", async () => {
    const world = await registryWorld(manualEnv(), { access });
    const body = { serviceName: "tool", host: "h", port: 1 };
    const { data } = await world.call("POST", discoveryPath, body, as("a"));
    const { id } = data as { id: string };
    const status = async (method: string, path: string, token: string, sent: unknown): Promise<number> =>
      (await world.call(method, `${discoveryPath}${path}`, sent, as(token))).status;
    assert.equal(await status("POST", "/heartbeats", "m", id), 403);
    assert.equal(await status("POST", `/update/${id}`, "m", { healthy: false }), 403);
    assert.equal(await status("DELETE", "", "m", { id }), 403);
    assert.equal(await status("POST", "", "m", { ...body, id, serviceName: "mine now" }), 403);
    const bulk = await world.call("POST", `${discoveryPath}/heartbeats`, [id, "x"], as("m"));
    assert.deepEqual(bulk.data, { accepted: 0, unknown: ["x"], refused: [id] });
    assert.equal(await status("POST", "/heartbeats", "a", id), 200);
    assert.equal(
      (await world.call("DELETE", "/api/v1/capabilities/stale?maxAgeSeconds=0", undefined, as("m"))).data,
      0,
    );
    assert.equal(await status("DELETE", "", "r", { id }), 200);
  });

  test("S14: a name belongs to whoever registered it first", async () => {
    const world = await registryWorld(manualEnv(), { access });
    const body = { serviceName: "tool", host: "h", port: 1 };
    await world.call("POST", discoveryPath, body, as("a"));
    const poisoned = await world.call("POST", discoveryPath, { ...body, host: "evil" }, as("m"));
    assert.equal(poisoned.status, 409);
    assert.match(poisoned.message ?? "", /registered by another identity/);
    assert.equal(world.registry.resolve({ serviceName: "tool" })?.host, "h");
  });

  test("S15: nobody registers or asks without end", async () => {
    const world = await registryWorld(manualEnv(), {
      access,
      maxServicesPerOwner: 2,
      rateLimit: { perSecond: 1, burst: 5 },
    });
    const statuses: number[] = [];
    for (let port = 0; port < 7; port++)
      statuses.push((await world.call("POST", discoveryPath, { serviceName: "s", host: "h", port }, as("a"))).status);
    assert.deepEqual(statuses, [200, 200, 429, 429, 429, 429, 429]);
    assert.equal((await world.call("GET", "/api/v1/capabilities", undefined, as("m"))).status, 200, "others go on");
    await world.env.advance(1_000);
    assert.equal((await world.call("GET", "/api/v1/capabilities", undefined, as("a"))).status, 200);
  });
});

describe("web pages", () => {
  test("of other origins may not use the registry unless they are named", async () => {
    const world = await registryWorld(manualEnv(), { allowedOrigins: ["https://friend.example"] });
    const from = (origin: string, method = "GET"): ReturnType<typeof world.call> =>
      world.call(method, "/api/v1/capabilities", undefined, { origin, host: "127.0.0.1:8080" });
    assert.equal((await from("https://evil.example")).status, 403);
    assert.equal((await from("null")).status, 403);
    assert.equal((await from("http://127.0.0.1:8080")).status, 200);
    const friend = await from("https://friend.example");
    assert.equal(friend.status, 200);
    assert.equal(friend.headers["access-control-allow-origin"], "https://friend.example");
    assert.equal((await from("https://friend.example", "OPTIONS")).status, 204);
  });
});

describe("a token file", () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-tokens-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("names identities, and is read again without a restart", async () => {
    const env = manualEnv();
    const path = join(folder, "tokens");
    writeFileSync(path, "# the old one\nold-token,alice,team-a\nboss,root,,administrator\n");
    const problems: string[] = [];
    const file = await readTokenFile(env, path, ({ message }) => problems.push(message));
    assert.deepEqual(await file.authenticate("old-token"), alice);
    assert.deepEqual(await file.authenticate("boss"), root);
    assert.equal(await file.authenticate("new-token"), undefined);
    writeFileSync(path, "old-token,alice,team-a\nnew-token,alice,team-a\n");
    await env.advance(1_000);
    assert.deepEqual(await file.authenticate("new-token"), alice, "at once, when the token is new");
    writeFileSync(path, "new-token,alice,team-a\n");
    await env.advance(60_000);
    assert.equal(await file.authenticate("old-token"), undefined, "within a minute, when it is gone");
    writeFileSync(path, "newer-token,alice,team-a\nnew-token\n");
    await env.advance(60_000);
    assert.deepEqual(await file.authenticate("new-token"), alice, "a mistake leaves the tokens as they were");
    assert.deepEqual(problems, ["registry token file, line 2: must be token,identity[,namespace[,administrator]]"]);
  });

  test("that is not there or cannot be read stops the start", async () => {
    await assert.rejects(readTokenFile(manualEnv(), join(folder, "absent")), /cannot read .*absent/);
  });

  test("with a mistake names the line", () => {
    assert.throws(() => parseTokens("good,alice\nonly-a-token\n"), /line 2: must be token,identity/);
    assert.throws(() => parseTokens("t,a,ns,boss\n"), /line 1: the fourth word/);
  });
});

describe("OIDC tokens", () => {
  const issuer = "https://issuer.example/realms/wanaku";
  const made = async (
    kid: string,
  ): Promise<{ jwk: object; sign(claims: object, expires?: string): Promise<string> }> => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    return {
      jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256" },
      sign: (claims, expires = "2026-01-01T00:10:00Z") =>
        new SignJWT({ sub: "service-1", ...claims })
          .setProtectedHeader({ alg: "ES256", kid })
          .setIssuer(issuer)
          .setAudience("capstan")
          .setExpirationTime(new Date(expires))
          .sign(privateKey),
    };
  };

  test("are good when the issuer signed them for us, and keys are exchanged without a restart", async () => {
    const env = manualEnv();
    const first = await made("one");
    const second = await made("two");
    let keys = [first.jwk];
    const asked: string[] = [];
    const tokens = oidcTokens({
      env,
      issuer,
      audience: "capstan",
      administratorRole: "boss",
      getJson: async (url) => {
        asked.push(url);
        return url.endsWith("/certs") ? { keys } : { issuer, jwks_uri: `${issuer}/certs` };
      },
    });
    assert.deepEqual(await tokens.authenticate(await first.sign({})), {
      name: "oidc:service-1",
      namespace: null,
      isAdministrator: false,
    });
    assert.equal(
      (await tokens.authenticate(await first.sign({ realm_access: { roles: ["boss"] } })))?.isAdministrator,
      true,
    );
    assert.equal(asked.length, 2, "one discovery, one set of keys, for all tokens");
    assert.equal(await tokens.authenticate(await first.sign({}, "2025-12-31T23:00:00Z")), undefined, "expired");
    assert.equal(await tokens.authenticate(await (await made("one")).sign({})), undefined, "signed by somebody else");
    assert.equal(await tokens.authenticate("a.b.c"), undefined);
    assert.equal(await tokens.authenticate(`${btoa('{"alg":"none"}')}.${btoa('{"sub":"x"}')}.`), undefined);
    keys = [second.jwk];
    await env.advance(11_000);
    assert.ok(await tokens.authenticate(await second.sign({})), "an unknown key makes it look again");
  });

  test("can be had by clients that know only the registry: it hands on where the issuer is, to everyone", async () => {
    const oidcDocument = async (): Promise<unknown> => ({ issuer, jwks_uri: `${issuer}/certs` });
    const world = await registryWorld(manualEnv(), { access, oidcDocument });
    const called = await world.call("GET", "/q/oidc/.well-known/openid-configuration");
    assert.deepEqual([called.status, JSON.parse(called.text)], [200, { issuer, jwks_uri: `${issuer}/certs` }]);
    const away = await registryWorld(manualEnv(), { access, oidcDocument: () => Promise.reject(new Error("away")) });
    assert.equal((await away.call("GET", "/q/oidc/.well-known/openid-configuration")).status, 502);
    const without = await registryWorld(manualEnv());
    assert.equal((await without.call("GET", "/q/oidc/.well-known/openid-configuration")).status, 0);
  });

  test("for another audience are refused", async () => {
    const env = manualEnv();
    const key = await made("one");
    const tokens = oidcTokens({
      env,
      issuer,
      audience: "somebody-else",
      jwksUrl: "x",
      getJson: async () => ({ keys: [key.jwk] }),
    });
    assert.equal(await tokens.authenticate(await key.sign({})), undefined);
  });
});

describe("Kubernetes tokens", () => {
  test("are reviewed for our audience, remembered for a while, and bring their namespace", async () => {
    const env = manualEnv();
    let asked = 0;
    const username = "system:serviceaccount:team-a:my-tool";
    const tokens = reviewedTokens({
      env,
      audience: "capstan",
      review: async (token) => {
        asked++;
        if (token === "good") return { authenticated: true, audiences: ["capstan"], user: { username } };
        if (token === "other") return { authenticated: true, audiences: ["api"], user: { username } };
        return token === "no-audience" ? { authenticated: true, user: { username } } : {};
      },
    });
    const good = { name: username, namespace: "team-a", isAdministrator: false };
    assert.deepEqual(await tokens.authenticate("good"), good);
    assert.deepEqual(await tokens.authenticate("good"), good);
    assert.equal(asked, 1);
    for (const token of ["other", "no-audience", "bad"]) assert.equal(await tokens.authenticate(token), undefined);
    await env.advance(60_000);
    await Promise.all(Array.from({ length: 10 }, () => tokens.authenticate("good")));
    assert.equal(asked, 5, "many requests with one token are one question");
  });

  test("that cannot be checked let nobody in, and are asked about again", async () => {
    let isAway = true;
    const review = async (): Promise<object> => {
      if (isAway) throw new Error("the API server is away");
      return { authenticated: true, audiences: ["capstan"], user: { username: "alice" } };
    };
    const authenticators = [reviewedTokens({ env: manualEnv(), audience: "capstan", review })];
    const world = await registryWorld(manualEnv(), { access: { kind: "Bearer", authenticators } });
    const called = await world.call("GET", "/api/v1/capabilities", undefined, as("token"));
    assert.deepEqual([called.status, called.message], [503, "tokens cannot be checked now"]);
    isAway = false;
    assert.equal((await world.call("GET", "/api/v1/capabilities", undefined, as("token"))).status, 200);
  });
});
