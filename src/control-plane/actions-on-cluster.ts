import { MutatingWebhookConfiguration } from "../api/builtin/admission.ts";
import { auditSigner } from "../audit/signing-key.ts";
import { ApiError } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import { webhookConfiguration } from "../controllers/action-executor/approval/webhook.ts";
import type { Env } from "../env/env.ts";
import type { Logger } from "../runtime/log.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { startWebhookServer } from "../runtime/webhook-server.ts";
import type { Database } from "../store/database.ts";
import { type ActionParts, type ActionSettings, actionWebhooks, openKeptTrail, withProtected } from "./actions.ts";
import { findOrMakeKeys, SharedKeysError } from "./shared-keys.ts";
import { namesOf, WebhookCertificate, type WebhookPlace } from "./webhook-certificate.ts";
import { newWebhookIdentity } from "./webhook-identity.ts";

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

export interface ClusterActions {
  readonly parts: ActionParts;
  stop(): Promise<void>;
}

/** The person who installs has something to do first. */
export class ActionsSetupError extends Error {}

/** A renewal leaves months for this. */
const lookForCertificateEveryMs = 60_000;

export async function prepareActionsOnCluster(options: ClusterActionsOptions): Promise<ClusterActions> {
  const { env, client, database, settings, webhook, log, metrics } = options;
  await explained(options, () => client.get(MutatingWebhookConfiguration, { name: webhookConfiguration }));
  const { namespace } = webhook.service;
  const keys = await explained(options, () =>
    findOrMakeKeys(client, namespace, () => newWebhookIdentity(env.now(), namesOf(webhook))),
  );
  const signer = auditSigner(keys.auditKey);
  const certificate = new WebhookCertificate({ env, client, webhook, keys });
  const kept = await openKeptTrail({ env, database, signer, keepMs: settings.auditRetentionMs, log, metrics });
  const user = await ownName(client);
  const server = await startWebhookServer({
    env,
    log,
    metrics,
    handler: actionWebhooks({ env, log, metrics, controllerUsers: [user] }),
    host: webhook.host,
    port: webhook.port,
    certificate: () => certificate.current(),
    lookEveryMs: lookForCertificateEveryMs,
  });
  const stop = async (): Promise<void> => {
    kept.stop();
    await server.close();
  };
  try {
    await explained(options, () => certificate.introduce());
  } catch (error) {
    await stop();
    throw error;
  }
  log.info("the webhook of actions is served", { url: server.url, user });
  return { parts: { audit: kept.trail, settings: withProtected(settings, namespace) }, stop };
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
    if (error instanceof SharedKeysError) throw new ActionsSetupError(error.message, { cause: error });
    if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 403)) throw error;
    throw new ActionsSetupError(
      `actions cannot run in this cluster yet: ${error.message}. Apply what \`capstan install --namespace ${webhook.service.namespace}\` prints first, and run as its ServiceAccount; or leave them out with --controllers`,
    );
  }
}
