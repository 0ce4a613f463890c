import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import type { RegistrySettings } from "../../control-plane/registry.ts";
import { Failure } from "../failure.ts";
import { type DatabaseFlags, databaseLocationOf, withDatabaseFlags } from "./database.ts";
import { type RegistryFlags, registrySettingsOf, withRegistryFlags } from "./registry.ts";

const parse = <T>(command: Command, args: readonly string[]): T =>
  command
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parse([...args], { from: "user" })
    .opts<T & Record<string, unknown>>();
const settings = (...args: string[]): RegistrySettings =>
  registrySettingsOf(parse<RegistryFlags>(withRegistryFlags(new Command()), args));

test("without flags the deadlines are 90 s and 10 min, nobody is probed, and there is no port of its own", () => {
  assert.deepEqual(settings(), {
    namespace: "capstan-system",
    missingAfterMs: 90_000,
    deregisterAfterMs: 600_000,
    forgetAfterMs: 3_600_000,
    maxStates: 10,
    maxSubscribers: 10_000,
    rateLimit: { perSecond: 5_000, burst: 20_000 },
    allowedOrigins: [],
  });
});

test("every part can be chosen", () => {
  const { oidc, tokenReview, tokensFile, probe, listen, maxServicesPerOwner } = settings(
    ...["--registry-oidc-issuer", "https://issuer.example/realms/w", "--registry-oidc-audience", "capstan"],
    ...["--registry-token-review-audience", "capstan-registry", "--registry-tokens-file", "tokens"],
    ...["--registry-probe", "grpc", "--registry-probe-allow", "10.42.0.0/16, 10.43.0.0/16"],
    ...["--registry-port", "0", "--registry-bind-address", "0.0.0.0", "--registry-max-services", "7"],
    ...["--registry-tls-cert-file", "tls.crt", "--registry-tls-key-file", "tls.key"],
  );
  assert.deepEqual(oidc, { issuer: "https://issuer.example/realms/w", audience: "capstan" });
  assert.deepEqual(tokenReview, { audience: "capstan-registry" });
  assert.equal(tokensFile, "tokens");
  assert.equal(maxServicesPerOwner, 7);
  assert.deepEqual(probe, {
    kind: "grpc",
    path: "/healthz",
    intervalMs: 60_000,
    timeoutMs: 3_000,
    allowedRanges: ["10.42.0.0/16", "10.43.0.0/16"],
  });
  assert.deepEqual(listen, { host: "0.0.0.0", port: 0, tls: { certFile: "tls.crt", keyFile: "tls.key" } });
});

const refusals: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["an issuer without an audience", ["--registry-oidc-issuer", "https://i.example"], /--registry-oidc-audience belong/],
  ["a certificate without a key", ["--registry-port", "0", "--registry-tls-cert-file", "c"], /belong together/],
  [
    "a certificate without a port",
    ["--registry-tls-cert-file", "c", "--registry-tls-key-file", "k"],
    /--registry-port/,
  ],
  ["a second deadline before the first", ["--registry-deregister-after", "1m"], /must be missing before/],
  ["a duration without a unit", ["--registry-missing-after", "90"], /90s, 10m or 1h/],
  ["a duration of nothing", ["--registry-missing-after", "0s"], /90s, 10m or 1h/],
  ["half a state", ["--registry-history", "0.5"], /whole number/],
  ["an issuer that is no URL", ["--registry-oidc-issuer", "issuer"], /http:\/\/ or https:\/\//],
];
for (const [what, args, message] of refusals)
  test(`${what} is refused`, () => assert.throws(() => settings(...args), message));

test("the database is a URL, a file, or capstan.db in the data directory", () => {
  const location = (...args: string[]): string =>
    databaseLocationOf(parse<DatabaseFlags>(withDatabaseFlags(new Command()), args), "/data");
  assert.equal(location(), "/data/capstan.db");
  assert.equal(location("--database-url", "postgres://u@h/d"), "postgres://u@h/d");
  assert.equal(location("--database-url", "other.db"), "other.db");
  assert.throws(() => location("--database-url", "mysql://u@h/d"), Failure);
});
