import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceAccount } from "../api/builtin/configuration.ts";
import { ClusterRole, ClusterRoleBinding } from "../api/builtin/rbac.ts";
import { writeSecret } from "../apiserver/pki.ts";
import { loadAuditSigner } from "../audit/signing-key.ts";
import type { Client } from "../client/client.ts";
import { guardObjects } from "../controllers/action-executor/approval/admission-policies.ts";
import { webhookObject } from "../controllers/action-executor/approval/webhook.ts";
import { actionObjects } from "../controllers/action-executor/install.ts";
import { object } from "../controllers/action-executor/install-rbac.ts";
import type { Env } from "../env/env.ts";
import { issueCertificate } from "../http/x509.ts";
import type { KubeObject } from "../kube/object.ts";
import { stringifyYaml } from "../kube/yaml.ts";
import type { Controller } from "../runtime/controller.ts";
import type { Logger } from "../runtime/log.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { startWebhookServer } from "../runtime/webhook-server.ts";
import type { Database } from "../store/database.ts";
import { measuredAccounts } from "./action-account-metrics.ts";
import { controllerRoles, userOf } from "./action-objects.ts";
import { type ActionSettings, actionControllers, actionWebhooks, openKeptTrail, withProtected } from "./actions.ts";
import { ensureObjects } from "./ensure-objects.ts";
import { permissionsOf } from "./manifests/permissions.ts";
import { newWebhookIdentity } from "./webhook-identity.ts";

/** What `capstan up` adds for actions: everything that `capstan install` prints for a cluster, and a second person. */
export interface EmbeddedActionsOptions {
  readonly env: Env;
  readonly dataDir: string;
  readonly database: Database;
  readonly image: string;
  readonly settings: ActionSettings;
  readonly admin: Client;
  /** As whom the local node makes the pods of Jobs. */
  readonly nodeUser: string;
  readonly serverUrl: string;
  readonly caCertificate: string;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export interface EmbeddedActions {
  /** To be run as `actionsUser`. */
  readonly controllers: readonly Controller[];
  stop(): Promise<void>;
}

const account = { namespace: "capstan-system", serviceAccount: "capstan-actions" } as const;
/** As whom the controllers act: the same account as on a cluster, with the rights that they declare and no more. */
export const actionsUser = userOf(account);
/** Made anew with every start, so it only has to outlive this process. */
const identityDays = 3_650;
/** The second person on a laptop. */
const approver = "capstan-approver";

export async function prepareActions(options: EmbeddedActionsOptions): Promise<EmbeddedActions> {
  const { env, dataDir, database, image, log, metrics, settings } = options;
  const signer = loadAuditSigner(join(dataDir, "audit.key"));
  const kept = await openKeptTrail({ env, database, signer, keepMs: settings.auditRetentionMs, log, metrics });
  const identity = newWebhookIdentity(env.now(), ["127.0.0.1"], identityDays);
  const webhook = await startWebhookServer({
    env,
    log,
    metrics,
    handler: actionWebhooks({ env, log, metrics, controllerUsers: [actionsUser] }),
    port: 0,
    certificate: { cert: identity.certificate, key: identity.key },
  });
  const stop = async (): Promise<void> => {
    kept.stop();
    await webhook.close();
  };
  try {
    const actions = { audit: kept.trail, settings: withProtected(settings, account.namespace) };
    const controllers = actionControllers({ env, metrics, image, actions });
    const objects = [
      ...actionObjects(),
      ...accountObjects(image),
      ...guardObjects({ controllerUsers: [actionsUser], podUsers: [options.nodeUser], image }),
      ...approverObjects(),
      // Last: from here on it is called.
      webhookObject({ caBundle: identity.caCertificate, url: webhook.url }),
    ];
    await ensureObjects(options.admin, objects, measuredAccounts(env, metrics));
    writeApproverKubeconfig(options);
    return { controllers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function accountObjects(image: string): readonly KubeObject[] {
  const { namespace, serviceAccount: name } = account;
  const permissions = permissionsOf({ systems: ["actions"] }, { registryNamespace: namespace, image });
  const rules = permissions.map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  }));
  return [
    object(ServiceAccount, { name, namespace }, {}),
    object(ClusterRole, { name }, { rules }),
    bound(name, name, { kind: ServiceAccount.kind, name, namespace }),
    ...controllerRoles({ namespace, name }),
  ];
}

const approverObjects = (): readonly KubeObject[] =>
  ["capstan-approver", "view"].map((role) =>
    bound(`${approver}-${role}`, role, { kind: "User", name: approver, apiGroup: ClusterRole.group }),
  );

const bound = (name: string, role: string, subject: object): KubeObject =>
  object(
    ClusterRoleBinding,
    { name },
    { roleRef: { apiGroup: ClusterRole.group, kind: ClusterRole.kind, name: role }, subjects: [subject] },
  );

/** A person's credential is a certificate of the data directory's own authority; a new one with every start. */
function writeApproverKubeconfig({ env, dataDir, serverUrl, caCertificate }: EmbeddedActionsOptions): void {
  const now = env.now().getTime();
  const keyPem = readFileSync(join(dataDir, "pki", "ca.key"), "utf8");
  const issued = issueCertificate(
    { certificatePem: caCertificate, keyPem },
    {
      subject: { commonName: approver },
      validity: { notBefore: new Date(now - dayMs), notAfter: new Date(now + approverDays * dayMs) },
      usages: ["client"],
    },
  );
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const cluster = { server: serverUrl, "certificate-authority-data": base64(caCertificate) };
  const user = {
    "client-certificate-data": base64(issued.certificatePem),
    "client-key-data": base64(issued.keyPem),
  };
  const text = stringifyYaml({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "capstan",
    clusters: [{ name: "capstan", cluster }],
    users: [{ name: approver, user }],
    contexts: [{ name: "capstan", context: { cluster: "capstan", user: approver, namespace: "default" } }],
  });
  writeSecret(join(dataDir, "approver.kubeconfig"), text);
}

const dayMs = 86_400_000;
const approverDays = 365;
