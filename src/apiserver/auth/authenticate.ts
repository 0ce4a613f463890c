import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpRequest } from "../../http/message.ts";
import type { SocketRequest } from "../../http/server.ts";
import type { User } from "../parts.ts";
import { unauthorized } from "../protocol/status-error.ts";
import { type CheckedToken, type TokenChecker, tokenIssuer } from "./service-account-tokens.ts";

/** A token that stands for a user, such as the administrator's. */
export interface StaticToken {
  readonly token: string;
  readonly user: User;
}

export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Paths that answer to anybody: a load balancer or a supervisor has no credentials. */
const healthPaths: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"]);

/** Finds out who asks: a client certificate, then a bearer token. Nobody may ask about health only. */
export class Authenticator {
  readonly #tokens: readonly { readonly digest: Buffer; readonly user: User }[];
  readonly #checker: TokenChecker;
  /** Headers that were right before: only these are remembered, so that guesses learn nothing and cost no memory. */
  readonly #knownHeaders = new Map<string, User>();

  constructor(tokens: readonly StaticToken[], checker: TokenChecker) {
    this.#tokens = tokens.map(({ token, user }) => ({ digest: digestOf(token), user: authenticated(user) }));
    this.#checker = checker;
  }

  authenticate(request: HttpRequest, path: string): User {
    const { peer } = request as SocketRequest;
    if (peer) return authenticated({ name: peer.commonName, groups: peer.organizations });
    const header = request.headers["authorization"];
    if (header === undefined) {
      if (healthPaths.has(path)) return anonymous;
      throw unauthorized();
    }
    const known = this.#knownHeaders.get(header);
    if (known) return known;
    const [, token] = /^bearer +(\S+) *$/i.exec(header) ?? [];
    const checked = token === undefined ? undefined : this.checkToken(token, [tokenIssuer]);
    if (!checked) throw unauthorized();
    // Static tokens never change; those of ServiceAccounts end with their objects and are looked at every time.
    if (this.#tokens.some(({ user }) => user === checked.user)) this.#knownHeaders.set(header, checked.user);
    return checked.user;
  }

  /** Who a token stands for, when it is meant for one of the audiences. */
  checkToken(token: string, audiences: readonly string[]): CheckedToken | undefined {
    const digest = digestOf(token);
    for (const known of this.#tokens) {
      // Digests have one length, so that the comparison takes the same time for every guess.
      if (timingSafeEqual(known.digest, digest)) {
        return audiences.includes(tokenIssuer) ? { user: known.user, audiences: [tokenIssuer] } : undefined;
      }
    }
    return this.#checker.check(token, audiences);
  }
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

const authenticated = (user: User): User =>
  user.groups.includes("system:authenticated") ? user : { ...user, groups: [...user.groups, "system:authenticated"] };
