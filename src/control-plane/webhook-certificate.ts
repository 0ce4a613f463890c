import { MutatingWebhookConfiguration } from "../api/builtin/admission.ts";
import type { Client } from "../client/client.ts";
import { webhookConfiguration, webhookObject } from "../controllers/action-executor/approval/webhook.ts";
import type { Env } from "../env/env.ts";
import type { KubeObject } from "../kube/object.ts";
import type { CertificatePair } from "../runtime/certificates.ts";
import { readKeys, replaceIdentity, type SharedKeys } from "./shared-keys.ts";
import {
  isDueForRenewal,
  isIdentityFor,
  newWebhookIdentity,
  renewedIdentity,
  type WebhookIdentity,
} from "./webhook-identity.ts";

/** Where we listen, and how the API server reaches us there. */
export interface WebhookPlace {
  readonly host: string;
  readonly port: number;
  /** In whose namespace our keys are kept too. */
  readonly service: { readonly namespace: string; readonly name: string };
  /** `https://host:port`, from outside of the cluster; the Service is not used then. */
  readonly url?: string;
}

export interface WebhookCertificateOptions {
  readonly env: Env;
  readonly client: Client;
  readonly webhook: WebhookPlace;
  readonly keys: SharedKeys;
}

/**
 * The certificate of the webhook, as all replicas share it. It is read again each time somebody asks, so that a replaced
 * one is taken up, and renewed when it is due. The API server hears of a new authority before anybody shows its certificate.
 */
export class WebhookCertificate {
  readonly #options: WebhookCertificateOptions;
  readonly #isShared: boolean;
  #identity: WebhookIdentity;
  /** The authorities that the API server was told of; none before the webhook is served. */
  #told: string | undefined;

  constructor(options: WebhookCertificateOptions) {
    const { env, keys, webhook } = options;
    this.#options = options;
    // Whoever is reached by a URL is alone, and may not have been thought of when the keys were made.
    this.#isShared = isIdentityFor(keys.identity, namesOf(webhook));
    this.#identity = this.#isShared ? keys.identity : newWebhookIdentity(env.now(), namesOf(webhook));
  }

  /** What to show now. */
  async current(): Promise<CertificatePair> {
    this.#identity = this.#isShared ? await this.#sharedIdentity() : this.#ownIdentity();
    if (this.#told !== undefined) await this.introduce();
    return { cert: this.#identity.certificate, key: this.#identity.key };
  }

  /** Tells the API server by which authority it knows us; from here on it calls. */
  async introduce(): Promise<void> {
    const { caCertificate } = this.#identity;
    if (this.#told === caCertificate) return;
    await tell(this.#options.client, caCertificate, this.#options.webhook);
    this.#told = caCertificate;
  }

  async #sharedIdentity(): Promise<WebhookIdentity> {
    const { client, env, webhook } = this.#options;
    const keys = await readKeys(client, webhook.service.namespace);
    if (!isDueForRenewal(keys.identity, env.now())) return keys.identity;
    return (await replaceIdentity(client, keys, renewedIdentity(keys.identity, env.now()))).identity;
  }

  #ownIdentity(): WebhookIdentity {
    const now = this.#options.env.now();
    return isDueForRenewal(this.#identity, now) ? renewedIdentity(this.#identity, now) : this.#identity;
  }
}

export const namesOf = ({ service: { namespace, name }, url }: WebhookPlace): readonly string[] => [
  `${name}.${namespace}.svc`,
  `${name}.${namespace}.svc.cluster.local`,
  ...(url === undefined ? [] : [new URL(url).hostname.replace(/^\[|\]$/g, "")]),
];

/** Where we are stands in the configuration already, unless we are elsewhere. */
async function tell(client: Client, caCertificate: string, { url }: WebhookPlace): Promise<void> {
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
