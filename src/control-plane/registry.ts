import { lookup } from "node:dns/promises";
import { TokenReview } from "../api/builtin/access-review.ts";
import type { Client } from "../client/client.ts";
import type { Env } from "../env/env.ts";
import type { HttpResponse } from "../http/message.ts";
import { textReply } from "../http/reply.ts";
import { type Listener, listen } from "../http/server.ts";
import { followTlsFiles, readTlsFiles, type TlsFiles } from "../http/tls-files.ts";
import { type Access, type Authenticator, accessFor, isLoopback } from "../registry/access/access.ts";
import { oidcTokens } from "../registry/access/oidc.ts";
import { readTokenFile } from "../registry/access/token-file.ts";
import { type ReviewToken, reviewedTokens } from "../registry/access/token-review.ts";
import { addressRules } from "../registry/health/address-rules.ts";
import type { ProbeKind } from "../registry/health/probe.ts";
import { Prober } from "../registry/health/prober.ts";
import { mirrorPermissions, serviceTargetMirror } from "../registry/mirror/mirror.ts";
import { createRegistry, type Registry, type RegistryOptions } from "../registry/registry.ts";
import { openSqlLog } from "../registry/storage/sql-log.ts";
import type { Controller } from "../runtime/controller.ts";
import type { Logger } from "../runtime/log.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { allow, type Permission } from "../runtime/permission.ts";
import type { Database } from "../store/database.ts";
import { createJsonGetter } from "./json-getter.ts";

/** What a person may choose about the registry; `src/cli/flags/registry.ts` reads it from flags. */
export interface RegistrySettings
  extends Pick<
    RegistryOptions,
    | "missingAfterMs"
    | "deregisterAfterMs"
    | "forgetAfterMs"
    | "maxStates"
    | "maxServicesPerOwner"
    | "maxSubscribers"
    | "rateLimit"
    | "allowedOrigins"
  > {
  /** Where services are mirrored that registered without a namespace of their own. */
  readonly namespace: string;
  readonly tokensFile?: string;
  readonly oidc?: OidcSettings;
  readonly tokenReview?: { readonly audience: string; readonly administratorGroup?: string };
  /** Absent: nobody is probed. */
  readonly probe?: RegistryProbe;
  /** A port of its own; without it the registry is found on the HTTP port only. */
  readonly listen?: { readonly host: string; readonly port: number; readonly tls?: TlsFiles };
}

export interface OidcSettings {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl?: string;
  readonly caFile?: string;
  readonly administratorRole?: string;
}

export interface RegistryProbe {
  readonly kind: ProbeKind;
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Ranges of private addresses that may be probed all the same. */
  readonly allowedRanges: readonly string[];
}

export interface StartRegistryOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly version: string;
  /** Opened by the caller, who shares it with the audit trail and closes it after the registry has stopped. */
  readonly database: Database;
  /** The addresses that other listeners serve this registry on; they decide whether it may be open. */
  readonly hosts: readonly string[];
  readonly settings: RegistrySettings;
  /** Reviews tokens of ServiceAccounts. */
  readonly client: Client;
  /** Only the replica that leads probes. Asked when it matters, so that the manager may be made later. */
  readonly isLeader: () => boolean;
}

export interface RunningRegistry {
  readonly registry: Registry;
  /** For the HTTP port: answers nothing for paths that are not the registry's. */
  readonly part: Registry["answer"];
  /** For the manager; they run where it leads. */
  readonly controllers: readonly Controller[];
  /** Of its own port, where it has one. */
  readonly url?: string;
  stop(): Promise<void>;
}

/** A set-up that cannot work, in a sentence for the person who chose it. */
export class RegistrySetupError extends Error {}

/** The registry with everything that it needs from outside: every replica serves, and the one that leads mirrors and probes. */
export async function startRegistry(options: StartRegistryOptions): Promise<RunningRegistry> {
  const { env, log, metrics, version, settings } = options;
  const { namespace, listen: _own, tokensFile: _file, oidc, tokenReview: _review, probe, ...limits } = settings;
  const issuer = createJsonGetter({ env, ...(oidc?.caFile !== undefined && { caFile: oidc.caFile }) });
  const ending: (() => Promise<void>)[] = [() => issuer.close()];
  const stop = async (): Promise<void> => {
    for (const end of ending.toReversed()) await end();
  };
  try {
    const access = await accessOf(options, issuer.get);
    const registry = createRegistry({
      env,
      storage: await openSqlLog(env, options.database),
      access,
      log,
      metrics,
      version,
      ...limits,
      ...(oidc && { oidcDocument: () => issuer.get(discoveryUrl(oidc.issuer)) }),
    });
    await registry.start();
    ending.push(() => registry.stop());
    if (probe) {
      const prober = createProber(probe, registry, options);
      prober.start();
      ending.push(() => prober.stop());
    }
    const listener = settings.listen && (await listenAlone(settings.listen, registry, options));
    if (listener) ending.push(() => listener.close());
    return {
      registry,
      part: (request) => registry.answer(request),
      controllers: [serviceTargetMirror({ core: registry.core, namespace })],
      ...(listener && { url: listener.url }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a registry's ServiceAccount may do: write its mirror, and ask whose a token is. */
export const registryPermissions: readonly Permission[] = [...mirrorPermissions, allow(TokenReview, ["create"])];

async function accessOf(options: StartRegistryOptions, getJson: (url: string) => Promise<unknown>): Promise<Access> {
  const { env, log, settings, client } = options;
  const { tokensFile, oidc, tokenReview } = settings;
  const authenticators: Authenticator[] = [];
  try {
    if (tokensFile !== undefined)
      authenticators.push(
        await readTokenFile(env, tokensFile, (error) => log.warn("the registry keeps its tokens", { error })),
      );
    if (oidc) authenticators.push(oidcTokens({ env, ...oidc, getJson }));
    if (tokenReview) authenticators.push(reviewedTokens({ env, ...tokenReview, review: reviewWith(client) }));
    const hosts = [...options.hosts, ...(settings.listen ? [settings.listen.host] : [])];
    return accessFor(hosts.find((host) => !isLoopback(host)) ?? "127.0.0.1", authenticators);
  } catch (error) {
    throw new RegistrySetupError((error as Error).message, { cause: error });
  }
}

const reviewWith =
  (client: Client): ReviewToken =>
  async (token, audiences) => {
    const { status } = await client.create(TokenReview, { metadata: { name: "" }, spec: { token, audiences } });
    return status ?? {};
  };

function createProber(
  settings: RegistryProbe,
  registry: Registry,
  { env, log, isLeader }: StartRegistryOptions,
): Prober {
  const { kind, path, timeoutMs, intervalMs, allowedRanges } = settings;
  const resolve = async (host: string): Promise<readonly string[]> =>
    (await lookup(host, { all: true })).map(({ address }) => address);
  let rules: ReturnType<typeof addressRules>;
  try {
    rules = addressRules(allowedRanges);
  } catch (error) {
    throw new RegistrySetupError((error as Error).message, { cause: error });
  }
  const probe = { kind, path, timeoutMs, rules, resolve };
  return new Prober({ env, core: registry.core, log, probe, intervalMs, isOurTurn: isLeader });
}

/** A listener for the registry and nothing else, perhaps with TLS. Its certificate is exchanged without a restart. */
async function listenAlone(
  { host, port, tls: files }: NonNullable<RegistrySettings["listen"]>,
  registry: Registry,
  { env, log }: StartRegistryOptions,
): Promise<Listener> {
  const tls = files && (await readTlsFiles(files));
  const listener = await listen({
    env,
    handler: (request) => {
      const answer = registry.answer(request);
      return answer instanceof Promise ? answer.then((found) => found ?? notFound()) : (answer ?? notFound());
    },
    host,
    port,
    bodyLimitBytes: maxBodyBytes,
    // Whoever binds to more than loopback knows best what names lead there; tokens guard what is behind it.
    ...(!isLoopback(host) && { isOurHost: () => true }),
    ...(tls && { tls }),
  });
  if (!files || !tls) return listener;
  const unfollow = followTlsFiles({
    env,
    files,
    current: tls,
    onChange: (next) => {
      listener.setCertificate(next);
      log.info("the registry's certificate was exchanged", { certFile: files.certFile });
    },
    onProblem: (error) => log.warn("the registry keeps its certificate", { error }),
  });
  return {
    ...listener,
    close() {
      unfollow();
      return listener.close();
    },
  };
}

const maxBodyBytes = 64 * 1024;
const notFound = (): HttpResponse => textReply(404, "not found\n");

const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
