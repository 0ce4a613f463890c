import type { Env } from "../env/env.ts";
import type { ClientCertificate, ClusterAccess, Credential, Impersonation } from "./cluster-access.ts";
import { type ExecCredential, runExecPlugin } from "./exec-plugin.ts";
import { RotatingFile } from "./rotating-file.ts";

/** Who we are to the server, now: credentials that are renewed before they end and after the server refuses them. */
export interface Credentials {
  /** Without waiting whenever the last answer is still good. */
  current(): Identity | Promise<Identity>;
  /** After a 401: the identity to try again with, or undefined when there is none but the refused one. */
  renew(refused: Identity): Promise<Identity | undefined>;
}

export interface Identity {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly certificate?: ClientCertificate;
}

export function createCredentials(
  env: Env,
  access: Pick<ClusterAccess, "server" | "credential" | "impersonate">,
  processEnv: Readonly<Record<string, string | undefined>>,
): Credentials {
  const others = impersonationHeaders(access.impersonate);
  // As kubectl does: a secret is not sent where everybody can read it.
  if (access.server.startsWith("http://")) return fixed({ headers: others });
  return credentialsOf(env, access.credential, others, processEnv);
}

function credentialsOf(
  env: Env,
  credential: Credential,
  others: Identity["headers"],
  processEnv: Readonly<Record<string, string | undefined>>,
): Credentials {
  const bearer = (token: string): Identity => ({ headers: { ...others, authorization: `Bearer ${token}` } });
  switch (credential.kind) {
    case "None":
      return fixed({ headers: others });
    case "Token":
      return fixed(bearer(credential.token));
    case "Basic": {
      const pair = Buffer.from(`${credential.username}:${credential.password}`).toString("base64");
      return fixed({ headers: { ...others, authorization: `Basic ${pair}` } });
    }
    case "TokenFile":
      return tokenFile(new RotatingFile(env, credential.path, credential.label), bearer);
    case "Exec":
      return exec(env, () => runExecPlugin(env, credential.plugin, processEnv), others);
  }
}

const fixed = (identity: Identity): Credentials => ({ current: () => identity, renew: async () => undefined });

function tokenFile(file: RotatingFile, bearer: (token: string) => Identity): Credentials {
  let last: { readonly content: string; readonly identity: Identity } | undefined;
  const identityOf = (content: string): Identity => {
    if (last?.content !== content) last = { content, identity: bearer(content.trim()) };
    return last.identity;
  };
  return {
    current() {
      const fresh = file.fresh;
      return fresh === undefined ? file.current().then(identityOf) : identityOf(fresh);
    },
    async renew(refused) {
      const identity = identityOf(await file.reload());
      return identity === refused ? undefined : identity;
    },
  };
}

/** An expiring credential is replaced a little early, because the clock of the server may be ahead of ours. */
const expirySkewMs = 10_000;

function exec(env: Env, run: () => Promise<ExecCredential>, others: Identity["headers"]): Credentials {
  let last: { readonly identity: Identity; readonly expiresAt: Date | undefined } | undefined;
  let running: Promise<Identity> | undefined;
  const isExpired = (): boolean =>
    last?.expiresAt !== undefined && env.now().getTime() >= last.expiresAt.getTime() - expirySkewMs;
  const runOnce = async (): Promise<Identity> => {
    try {
      const { token, certificate, expiresAt } = await run();
      const headers = token === undefined ? others : { ...others, authorization: `Bearer ${token}` };
      last = { identity: { headers, ...(certificate && { certificate }) }, expiresAt };
      return last.identity;
    } finally {
      running = undefined;
    }
  };
  const refresh = (): Promise<Identity> => {
    running ??= runOnce();
    return running;
  };
  return {
    current: () => (last && !isExpired() ? last.identity : refresh()),
    // Of many requests that are refused together, only the first runs the program.
    renew: async (refused) => (last && last.identity !== refused && !isExpired() ? last.identity : refresh()),
  };
}

function impersonationHeaders(impersonate: Impersonation | undefined): Identity["headers"] {
  if (!impersonate) return {};
  const { user, uid, groups, extra } = impersonate;
  const headers: Record<string, string | readonly string[]> = { "impersonate-user": user };
  if (uid) headers["impersonate-uid"] = uid;
  if (groups && groups.length > 0) headers["impersonate-group"] = groups;
  for (const [key, values] of Object.entries(extra ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values;
  return headers;
}
