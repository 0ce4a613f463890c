import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { User } from "../parts.ts";
import { storageKey } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import type { TokenSigner } from "./jwt.ts";

export const tokenIssuer = "https://kubernetes.default.svc.cluster.local";

/** The object that a token lives and dies with, besides its ServiceAccount. */
export interface BoundObject {
  readonly kind: "Pod" | "Secret" | "Node";
  readonly name: string;
  readonly uid: string;
}

export interface TokenOrder {
  readonly account: KubeObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject;
  /** The node of a bound pod. */
  readonly node?: { readonly name: string; readonly uid?: string };
}

/** Writes a token for a ServiceAccount. */
export function issueToken(env: Env, signer: TokenSigner, order: TokenOrder): string {
  const { name, namespace, uid } = order.account.metadata;
  const now = Math.floor(env.now().getTime() / 1000);
  const { bound, node } = order;
  return signer.sign({
    aud: order.audiences,
    exp: now + order.expirationSeconds,
    iat: now,
    iss: tokenIssuer,
    jti: env.uuid(),
    "kubernetes.io": {
      namespace,
      ...(node && { node }),
      ...(bound && { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
      serviceaccount: { name, uid },
    },
    nbf: now,
    sub: `system:serviceaccount:${namespace}:${name}`,
  });
}

interface Claims {
  readonly aud?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
  readonly jti?: unknown;
  readonly iss?: unknown;
  readonly "kubernetes.io"?: {
    readonly namespace?: string;
    readonly serviceaccount?: Reference;
    readonly pod?: Reference;
    readonly secret?: Reference;
    readonly node?: Reference;
  };
}
interface Reference {
  readonly name: string;
  readonly uid?: string;
}

export interface CheckedToken {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** Reads tokens back; a token is good while its account and the object that it is bound to are the ones that it names. */
export class TokenChecker {
  readonly #env: Env;
  readonly #store: Store;
  readonly #signer: TokenSigner;
  /** Signatures that were good once; claims and objects are looked at every time. */
  readonly #verified = new Map<string, Claims>();

  constructor(env: Env, store: Store, signer: TokenSigner) {
    this.#env = env;
    this.#store = store;
    this.#signer = signer;
  }

  check(token: string, audiences: readonly string[]): CheckedToken | undefined {
    const claims = this.#claimsOf(token);
    if (!claims) return undefined;
    const now = this.#env.now().getTime() / 1000;
    if (claims.iss !== tokenIssuer || typeof claims.exp !== "number" || claims.exp <= now) return undefined;
    if (typeof claims.nbf === "number" && claims.nbf > now + clockSkewSeconds) return undefined;
    const matching = (Array.isArray(claims.aud) ? claims.aud : []).filter((each) => audiences.includes(each));
    const { namespace, serviceaccount, pod, secret, node } = claims["kubernetes.io"] ?? {};
    if (matching.length === 0 || !namespace || !serviceaccount) return undefined;
    if (!this.#isAlive("serviceaccounts", namespace, serviceaccount)) return undefined;
    if (pod && !this.#isAlive("pods", namespace, pod)) return undefined;
    if (secret && !this.#isAlive("secrets", namespace, secret)) return undefined;
    if (node && !pod && !this.#isAlive("nodes", undefined, node)) return undefined;
    const extra: Record<string, readonly string[]> = {
      ...(typeof claims.jti === "string" && { "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`] }),
      ...referenceExtra("node", node),
      ...referenceExtra("pod", pod),
    };
    return {
      user: {
        name: `system:serviceaccount:${namespace}:${serviceaccount.name}`,
        ...(serviceaccount.uid !== undefined && { uid: serviceaccount.uid }),
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
        extra,
      },
      audiences: matching,
    };
  }

  #claimsOf(token: string): Claims | undefined {
    const known = this.#verified.get(token);
    if (known) return known;
    const claims = this.#signer.verify(token);
    if (!claims) return undefined;
    if (this.#verified.size >= maxRememberedTokens) this.#verified.clear();
    this.#verified.set(token, claims);
    return claims;
  }

  /** A bound pod may be on its way out: its token ends a little later, so that it can say goodbye. */
  #isAlive(collection: string, namespace: string | undefined, { name, uid }: Reference): boolean {
    const found = this.#store.get(collection, storageKey(namespace, name));
    if (!found || (uid !== undefined && found.object.metadata.uid !== uid)) return false;
    const { deletionTimestamp } = found.object.metadata;
    if (deletionTimestamp === undefined) return true;
    return this.#env.now().getTime() < Date.parse(deletionTimestamp) + deletionGraceMs;
  }
}

const clockSkewSeconds = 60;
const deletionGraceMs = 60_000;
const maxRememberedTokens = 1000;

const referenceExtra = (kind: string, reference: Reference | undefined): Record<string, readonly string[]> =>
  reference
    ? {
        [`authentication.kubernetes.io/${kind}-name`]: [reference.name],
        ...(reference.uid !== undefined && { [`authentication.kubernetes.io/${kind}-uid`]: [reference.uid] }),
      }
    : {};
