import type { HttpRequest } from "../../http/message.ts";
import { anyone, type Identity } from "../model/command.ts";

/** Who may use the registry. Open only where nobody but this machine can reach it. */
export type Access =
  | { readonly kind: "Open" }
  | { readonly kind: "Bearer"; readonly authenticators: readonly Authenticator[] };

/** Knows the holders of some kind of token. */
export interface Authenticator {
  /** Undefined: not a token of this kind, or not a good one. */
  authenticate(token: string): Promise<Identity | undefined>;
}

export const openAccess: Access = { kind: "Open" };

/** The rule: bearer tokens where any are configured, open on loopback, and nothing else. */
export function accessFor(host: string, authenticators: readonly Authenticator[]): Access {
  if (authenticators.length > 0) return { kind: "Bearer", authenticators };
  if (isLoopback(host)) return openAccess;
  throw new Error(
    `the registry would be open to everyone who reaches ${host}: configure a token file, an OIDC issuer or token review, or bind to 127.0.0.1`,
  );
}

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);

/** Undefined: nobody we know. Where the registry is open, a token is not even looked at: old clients always send one. */
export function identify(access: Access, request: HttpRequest): Identity | undefined | Promise<Identity | undefined> {
  return access.kind === "Open" ? anyone : authenticated(access.authenticators, request);
}

async function authenticated(
  authenticators: readonly Authenticator[],
  request: HttpRequest,
): Promise<Identity | undefined> {
  const token = bearerToken(request);
  if (token === undefined) return undefined;
  for (const authenticator of authenticators) {
    const identity = await authenticator.authenticate(token);
    if (identity) return identity;
  }
  return undefined;
}

function bearerToken({ headers }: HttpRequest): string | undefined {
  const header = headers["authorization"];
  if (header === undefined || header.length > maxTokenLength) return undefined;
  return /^bearer +([^\s]+)$/i.exec(header)?.[1];
}

const maxTokenLength = 16_384;
