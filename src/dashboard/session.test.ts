import assert from "node:assert/strict";
import { test } from "node:test";
import { manualEnv } from "../testing/manual-env.ts";
import { createSessions, maxSessions, sessionLifetimeMs, signInTokenLifetimeMs } from "./session.ts";

const cookieIn = (header: string | undefined): string => header?.split(";", 1)[0] ?? "";

test("a link's token works once, and only for a quarter of an hour", async () => {
  const env = manualEnv();
  const sessions = createSessions(env);
  const token = sessions.issueSignInToken("credential");
  assert.equal(sessions.credentialOf(`capstan-session=${token}`), undefined, "a link is not a session");
  const cookie = cookieIn(sessions.signIn(token));
  assert.equal(sessions.credentialOf(`other=1; ${cookie}`), "credential");
  assert.equal(sessions.signIn(token), undefined);
  const late = sessions.issueSignInToken("credential");
  await env.advance(signInTokenLifetimeMs);
  assert.equal(sessions.signIn(late), undefined);
});

test("a session ends by signing out and by time", async () => {
  const env = manualEnv();
  const sessions = createSessions(env);
  const [left, stayed] = [cookieIn(sessions.open("a")), cookieIn(sessions.open("b"))];
  assert.match(sessions.signOut(left), /^capstan-session=; .*Max-Age=0/);
  assert.equal(sessions.credentialOf(left), undefined);
  assert.equal(sessions.credentialOf(stayed), "b");
  await env.advance(sessionLifetimeMs);
  assert.equal(sessions.credentialOf(stayed), undefined);
});

test("a cookie cannot be read by scripts or sent by other sites, and over HTTPS never without it", () => {
  const env = manualEnv();
  assert.match(
    createSessions(env).open("x"),
    /^capstan-session=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  );
  const secure = createSessions(env, { isSecure: true });
  const cookie = secure.open("x");
  assert.match(cookie, /^__Host-capstan-session=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/);
  assert.equal(secure.credentialOf(cookieIn(cookie)), "x");
  assert.equal(secure.credentialOf(cookieIn(cookie).replace("__Host-", "")), undefined, "a plain one is not taken");
});

test("the oldest session makes room when there are too many", () => {
  const sessions = createSessions(manualEnv());
  const first = cookieIn(sessions.open("first"));
  for (let count = 0; count < maxSessions; count++) sessions.open("more");
  assert.equal(sessions.credentialOf(first), undefined);
});
