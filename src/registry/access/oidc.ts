import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import type { Env } from "../../env/env.ts";
import type { Identity } from "../model/command.ts";
import type { Authenticator } from "./access.ts";

export interface OidcOptions {
  readonly env: Env;
  readonly issuer: string;
  readonly audience: string;
  /** Found through the issuer's discovery document when absent. */
  readonly jwksUrl?: string;
  /** A GET that answers JSON; the caller owns connections, certificates and time limits. */
  readonly getJson: (url: string) => Promise<unknown>;
  /** The claim that names the identity. */
  readonly nameClaim?: string;
  /** Identities with this role in `realm_access.roles` or `groups` may act on what others own. */
  readonly administratorRole?: string;
}

/** Signed tokens of an OpenID Connect issuer. Keys are fetched when needed, kept for a while, and again for a new key id. */
export function oidcTokens(options: OidcOptions): Authenticator {
  const { env, issuer, audience, nameClaim = "sub" } = options;
  let keys: { readonly resolve: ReturnType<typeof createLocalJWKSet>; readonly atMs: number } | undefined;
  let fetching: Promise<void> | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;

  const fetchKeys = async (): Promise<void> => {
    triedAtMs = env.monotonicMs();
    const url = options.jwksUrl ?? jwksUrlOf(await options.getJson(discoveryUrl(issuer)), issuer);
    keys = { resolve: createLocalJWKSet((await options.getJson(url)) as JSONWebKeySet), atMs: env.monotonicMs() };
  };
  const refresh = (): Promise<void> => {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  const verify = async (token: string): Promise<JWTPayload | "UnknownKey" | undefined> => {
    if (!keys) return "UnknownKey";
    try {
      const verified = await jwtVerify(token, keys.resolve, {
        issuer,
        audience,
        algorithms: [...algorithms],
        currentDate: env.now(),
        clockTolerance: toleranceSeconds,
        requiredClaims: ["exp"],
      });
      return verified.payload;
    } catch (error) {
      return error instanceof errors.JWKSNoMatchingKey ? "UnknownKey" : undefined;
    }
  };

  return {
    async authenticate(token) {
      if (token.split(".").length !== 3) return undefined;
      const nowMs = env.monotonicMs();
      const isOld = keys === undefined || nowMs - keys.atMs > keysKeptMs;
      // An issuer that is away for a moment does not lock out those whose keys we know.
      if (isOld && nowMs - triedAtMs > refreshPauseMs) await refresh().catch(() => undefined);
      let payload = await verify(token);
      if (payload === "UnknownKey" && env.monotonicMs() - triedAtMs > refreshPauseMs) {
        await refresh().catch(() => undefined);
        payload = await verify(token);
      }
      if (payload === undefined || payload === "UnknownKey") return undefined;
      return identityOf(payload, nameClaim, options.administratorRole);
    },
  };
}

/** Signatures that only the issuer can make; a shared secret or none at all is not among them. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;
const toleranceSeconds = 30;
const keysKeptMs = 600_000;
const refreshPauseMs = 10_000;

const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;

function jwksUrlOf(document: unknown, issuer: string): string {
  const { jwks_uri: url, issuer: named } = (document ?? {}) as { jwks_uri?: unknown; issuer?: unknown };
  if (typeof url !== "string" || named !== issuer)
    throw new Error(`the discovery document of ${issuer} names another issuer or no jwks_uri`);
  return url;
}

function identityOf(payload: JWTPayload, nameClaim: string, role: string | undefined): Identity | undefined {
  const name = payload[nameClaim];
  if (typeof name !== "string" || name === "") return undefined;
  const { roles } = (payload["realm_access"] ?? {}) as { roles?: unknown };
  const all = [roles, payload["groups"]].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return { name: `oidc:${name}`, namespace: null, isAdministrator: role !== undefined && all.includes(role) };
}
