import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { MutatingWebhookConfiguration } from "../api/builtin/admission.ts";
import { Secret } from "../api/builtin/configuration.ts";
import { auditSigner, newAuditKey } from "../audit/signing-key.ts";
import { ApiError, isNotFound } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import { webhookConfiguration, webhookObject } from "../controllers/action-executor/approval/webhook.ts";
import { object } from "../controllers/action-executor/install-rbac.ts";
import type { Env } from "../env/env.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Logger } from "../runtime/log.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import type { Database } from "../store/database.ts";
import { ownSecret } from "./action-objects.ts";
import { type ActionParts, type ActionSettings, actionWebhooks, openKeptTrail, withProtected } from "./actions.ts";
import { newWebhookIdentity, startWebhookServer, type WebhookIdentity } from "./webhook-server.ts";

/** What `capstan run` adds for actions: the webhook on every replica, and the keys that all replicas share. */
export interface ClusterActionsOptions {
  readonly env: Env;
  readonly client: Client;
  readonly database: Database;
  readonly settings: ActionSettings;
  readonly webhook: WebhookPlace;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** Where we listen, and how the API server reaches us there. */
export interface WebhookPlace {
  readonly host: string;
  readonly port: number;
  /** In whose namespace our keys are kept too. */
  readonly service: { readonly namespace: string; readonly name: string };
  /** `https://host:port`, from outside of the cluster; the Service is not used then. */
  readonly url?: string;
}

export interface ClusterActions {
  readonly parts: ActionParts;
  stop(): Promise<void>;
}

/** The person who installs has something to do first. */
export class ActionsSetupError extends Error {}

export async function prepareActionsOnCluster(options: ClusterActionsOptions): Promise<ClusterActions> {
  const { env, client, database, settings, webhook, log, metrics } = options;
  await explained(options, () => client.get(MutatingWebhookConfiguration, { name: webhookConfiguration }));
  const keys = await explained(options, () => sharedKeys(options));
  const signer = auditSigner(keys.auditKey);
  // Whoever is reached by a URL is alone, and may not have been thought of when the keys were made.
  const identity = isFor(keys.identity, webhook) ? keys.identity : newWebhookIdentity(env.now(), namesOf(webhook));
  const kept = await openKeptTrail({ env, database, signer, keepMs: settings.auditRetentionMs, log, metrics });
  const user = await ownName(client);
  const server = await startWebhookServer({
    env,
    handler: actionWebhooks({ env, log, metrics, controllerUsers: [user] }),
    host: webhook.host,
    port: webhook.port,
    identity,
  });
  const stop = async (): Promise<void> => {
    kept.stop();
    await server.close();
  };
  try {
    await explained(options, () => introduce(client, identity.caCertificate, webhook));
  } catch (error) {
    await stop();
    throw error;
  }
  log.info("the webhook of actions is served", { url: server.url, user });
  return { parts: { audit: kept.trail, settings: withProtected(settings, webhook.service.namespace) }, stop };
}

interface SharedKeys {
  readonly identity: WebhookIdentity;
  readonly auditKey: string;
}

/** The first replica makes them, the others find them. */
async function sharedKeys({ env, client, webhook }: ClusterActionsOptions): Promise<SharedKeys> {
  const { namespace } = webhook.service;
  const key = { namespace, name: ownSecret };
  const found = await client.get(Secret, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found) return keysOf(found);
  const identity = newWebhookIdentity(env.now(), namesOf(webhook));
  const data = {
    "ca.crt": identity.caCertificate,
    "tls.crt": identity.certificate,
    "tls.key": identity.key,
    "audit.key": newAuditKey(),
  };
  const encoded = Object.fromEntries(
    Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
  try {
    return keysOf(await client.create(Secret, object(Secret, key, { type: "Opaque", data: encoded }) as Secret));
  } catch (error) {
    if (error instanceof ApiError && error.reason === "AlreadyExists") return keysOf(await client.get(Secret, key));
    throw error;
  }
}

function keysOf({ metadata, data = {} }: Secret): SharedKeys {
  const read = (name: string): string => {
    const value = data[name];
    if (value === undefined)
      throw new ActionsSetupError(
        `Secret ${metadata.namespace}/${metadata.name} has no ${name}; delete it and it is made again, with a new audit key`,
      );
    return Buffer.from(value, "base64").toString();
  };
  return {
    identity: { caCertificate: read("ca.crt"), certificate: read("tls.crt"), key: read("tls.key") },
    auditKey: read("audit.key"),
  };
}

const namesOf = ({ service: { namespace, name }, url }: WebhookPlace): readonly string[] => [
  `${name}.${namespace}.svc`,
  `${name}.${namespace}.svc.cluster.local`,
  ...(url === undefined ? [] : [new URL(url).hostname.replace(/^\[|\]$/g, "")]),
];

function isFor({ certificate }: WebhookIdentity, place: WebhookPlace): boolean {
  const shown = new X509Certificate(certificate);
  return namesOf(place).every((name) => (isIP(name) ? shown.checkIP(name) : shown.checkHost(name)) !== undefined);
}

/** Tells the API server by which authority it knows us; where we are stands there already, unless we are elsewhere. */
async function introduce(client: Client, caCertificate: string, { url }: WebhookPlace): Promise<void> {
  const key = { name: webhookConfiguration };
  const wanted = webhookObject({ caBundle: caCertificate, ...(url !== undefined && { url: url.replace(/\/+$/, "") }) });
  const { webhooks } = wanted as KubeObject & { readonly webhooks: readonly Hook[] };
  if (url !== undefined) {
    await client.patch(MutatingWebhookConfiguration, key, { type: "merge", value: { webhooks } });
    return;
  }
  const known = webhooks.map(({ name, clientConfig: { caBundle } }) => ({ name, clientConfig: { caBundle } }));
  const { apiVersion, kind } = wanted;
  const told = { apiVersion, kind, metadata: key, webhooks: known };
  await client.apply(MutatingWebhookConfiguration, told as never, { fieldManager: "capstan-actions", force: true });
}

interface Hook {
  readonly name: string;
  readonly clientConfig: { readonly caBundle?: string };
}

async function ownName(client: Client): Promise<string> {
  const answer = (await client.raw({
    method: "POST",
    target: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers: { "content-type": "application/json" },
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  })) as { readonly status?: { readonly userInfo?: { readonly username?: string } } };
  const name = answer.status?.userInfo?.username ?? "";
  if (name === "") throw new ActionsSetupError("the API server does not say who we are");
  return name;
}

async function explained<T>({ webhook }: ClusterActionsOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 403)) throw error;
    throw new ActionsSetupError(
      `actions cannot run in this cluster yet: ${error.message}. Apply what \`capstan install --namespace ${webhook.service.namespace}\` prints first, and run as its ServiceAccount; or leave them out with --controllers`,
    );
  }
}
