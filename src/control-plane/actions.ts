import { retireSegments } from "../audit/retention.ts";
import type { AuditSigner } from "../audit/signing-key.ts";
import { type AuditTrail, openAuditTrail } from "../audit/trail.ts";
import { stampingWebhooks } from "../controllers/action-executor/approval/webhook.ts";
import { actionExecutor } from "../controllers/action-executor/controller.ts";
import { defaultSettings, type Settings } from "../controllers/action-executor/evaluate.ts";
import { freezeSwitch } from "../controllers/action-executor/freeze-switch.ts";
import { createPolicyKeeper } from "../controllers/action-executor/policy/policy-keeper.ts";
import { policyWatch } from "../controllers/action-executor/policy-watch.ts";
import { remediationController } from "../controllers/remediation/controller.ts";
import { idleWorkflows } from "../controllers/remediation/idle-workflows.ts";
import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import { durationMs } from "../kube/duration.ts";
import type { Controller } from "../runtime/controller.ts";
import type { Logger } from "../runtime/log.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { createWebhookHandler } from "../runtime/webhook.ts";
import type { Database } from "../store/database.ts";
import { measuredTrail } from "./measured-trail.ts";

/** The system `actions`, however it is run: its controllers, its webhook and its audit trail. */
export interface ActionSettings extends Omit<Settings, "image" | "clusterName"> {
  readonly coolDownMs: number;
  readonly auditRetentionMs: number;
  readonly clusterName: string;
}

export const defaultActionSettings: ActionSettings = {
  ...defaultSettings,
  coolDownMs: durationMs("1m"),
  auditRetentionMs: durationMs("2160h"),
  clusterName: "",
};

/** Whoever could change what runs as us could do everything: our own namespace is out of bounds, wherever it is. */
export const withProtected = (settings: ActionSettings, ownNamespace: string): ActionSettings => ({
  ...settings,
  protectedNamespaces: [...new Set([...settings.protectedNamespaces, ownNamespace])],
});

/** What the controllers need that is not the cluster's. */
export interface ActionParts {
  readonly audit: AuditTrail;
  readonly settings: ActionSettings;
}

export interface ActionControllerOptions {
  readonly env: Env;
  readonly metrics: MetricsRegistry;
  readonly image: string;
  /** Absent where controllers are only asked what they need. */
  readonly actions?: ActionParts;
}

export function actionControllers({ env, metrics, image, actions }: ActionControllerOptions): readonly Controller[] {
  const { audit, settings } = actions ?? { audit: noTrail, settings: defaultActionSettings };
  const policies = createPolicyKeeper(env, metrics);
  return [
    actionExecutor({ env, metrics, audit, settings: { ...settings, image }, policies }),
    remediationController({ metrics, coolDownMs: settings.coolDownMs }),
    idleWorkflows(),
    freezeSwitch(audit),
    policyWatch(policies, audit),
  ];
}

const noTrail: AuditTrail = { append: () => Promise.reject(new Error("there is no audit trail here")) };

export interface WebhookParts {
  readonly env: Env;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly controllerUsers: readonly string[];
}

export const actionWebhooks = ({ env, log, metrics, controllerUsers }: WebhookParts): HttpHandler =>
  createWebhookHandler({ env, log, metrics, webhooks: stampingWebhooks({ env, controllerUsers }) });

export interface AuditOptions {
  readonly env: Env;
  readonly database: Database;
  readonly signer: AuditSigner;
  readonly keepMs: number;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export interface KeptTrail {
  readonly trail: AuditTrail;
  stop(): void;
}

/** The trail, and somebody who takes away once a day what is older than anybody wants to keep. */
export async function openKeptTrail({ env, database, signer, keepMs, log, metrics }: AuditOptions): Promise<KeptTrail> {
  const trail = measuredTrail(env, metrics, await openAuditTrail({ env, database, signer }));
  let cancel = (): void => undefined;
  const retireLater = (delayMs: number): void => {
    cancel = env.setTimer(delayMs, () => {
      const retiring = retireSegments({ env, database, trail, signer, keepMs, actor: "capstan-audit-retention" });
      void retiring
        .then((retired) => {
          if (retired.kind === "Refused") log.error("the audit trail was not shortened", { why: retired.message });
          else if (retired.segments > 0) log.info("old segments of the audit trail were removed", { ...retired });
        })
        .catch((error: unknown) => log.error("the audit trail could not be looked through", { error }))
        .finally(() => retireLater(retireEveryMs));
    });
  };
  retireLater(firstRetireMs);
  return { trail, stop: () => cancel() };
}

/** Not at once: a start has better things to do than to read a whole trail. */
const firstRetireMs = durationMs("15m");
const retireEveryMs = durationMs("24h");
