import assert from "node:assert/strict";
import { test } from "node:test";
import { type ManualEnv, manualEnv } from "../testing/manual-env.ts";
import { memorySessions } from "./memory-sessions.ts";
import { createSessions, type Sessions, signInTokenLifetimeMs } from "./session.ts";

const cookieIn = (header: string | undefined): string => header?.split(";", 1)[0] ?? "";
const sessionsOf = (env: ManualEnv, isSecure = false): Sessions =>
  createSessions({ env, kept: memorySessions(env), isSecure });

test("a link's token works once, and only for a quarter of an hour", async () => {
  const env = manualEnv();
  const sessions = sessionsOf(env);
  const token = sessions.issueSignInToken("credential");
  assert.equal(await sessions.credentialOf(`capstan-session=${token}`), undefined, "a link is not a session");
  const cookie = cookieIn(await sessions.signIn(token));
  assert.equal(await sessions.credentialOf(`other=1; ${cookie}`), "credential");
  assert.equal(await sessions.signIn(token), undefined);
  const late = sessions.issueSignInToken("credential");
  await env.advance(signInTokenLifetimeMs);
  assert.equal(await sessions.signIn(late), undefined);
});

test("of two who use a link at the same moment, one is signed in", async () => {
  const sessions = sessionsOf(manualEnv());
  const token = sessions.issueSignInToken("credential");
  const both = await Promise.all([sessions.signIn(token), sessions.signIn(token)]);
  assert.equal(both.filter((cookie) => cookie !== undefined).length, 1);
});

test("signing out takes the cookie away, and the session with it", async () => {
  const sessions = sessionsOf(manualEnv());
  const [left, stayed] = [cookieIn(await sessions.open("a")), cookieIn(await sessions.open("b"))];
  assert.match(await sessions.signOut(left), /^capstan-session=; .*Max-Age=0/);
  assert.equal(await sessions.credentialOf(left), undefined);
  assert.equal(await sessions.credentialOf(stayed), "b");
});

test("a cookie cannot be read by scripts or sent by other sites, and over HTTPS never without it", async () => {
  const env = manualEnv();
  assert.match(
    await sessionsOf(env).open("x"),
    /^capstan-session=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  );
  const secure = sessionsOf(env, true);
  const cookie = await secure.open("x");
  assert.match(cookie, /^__Host-capstan-session=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/);
  assert.equal(await secure.credentialOf(cookieIn(cookie)), "x");
  assert.equal(
    await secure.credentialOf(cookieIn(cookie).replace("__Host-", "")),
    undefined,
    "a plain one is not taken",
  );
});
