import { type Command, InvalidArgumentError } from "commander";
import { webhookService } from "../../control-plane/action-objects.ts";
import type { ActionSettings } from "../../control-plane/actions.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { parsePort, setting } from "../settings.ts";

/** How gated actions behave: the flags that `capstan up` and `capstan run` share. */
export interface ActionFlags {
  readonly approvalTimeout: string;
  readonly rollbackRetention: string;
  readonly protectedNamespaces: readonly string[];
  readonly remediationCoolDown: string;
  readonly auditRetention: string;
  readonly clusterName: string;
}

export const withActionFlags = (command: Command): Command =>
  command
    .addOption(
      setting("--approval-timeout <duration>", "how long an action waits for approval")
        .argParser(checkDuration)
        .default("1h"),
    )
    .addOption(
      setting("--rollback-retention <duration>", "how long a finished action can be rolled back")
        .argParser(checkDuration)
        .default("1h"),
    )
    .addOption(
      setting("--protected-namespaces <names>", "namespaces that no action may touch, besides the cluster's own")
        .argParser(parseNamespaces)
        .default([], "none"),
    )
    .addOption(
      setting("--remediation-cool-down <duration>", "how long a target rests between two remediations")
        .argParser(checkDuration)
        .default("1m"),
    )
    .addOption(
      setting("--audit-retention <duration>", "how long rows of the audit trail are kept")
        .argParser(checkDuration)
        .default("2160h"),
    )
    .addOption(setting("--cluster-name <name>", "what policies see as input.cluster_info.name").default(""));

export const actionSettingsOf = (flags: ActionFlags): ActionSettings => ({
  approvalTimeoutMs: millisecondsOf(flags.approvalTimeout),
  rollbackRetentionMs: millisecondsOf(flags.rollbackRetention),
  protectedNamespaces: flags.protectedNamespaces,
  coolDownMs: millisecondsOf(flags.remediationCoolDown),
  auditRetentionMs: millisecondsOf(flags.auditRetention),
  clusterName: flags.clusterName,
});

function checkDuration(text: string): string {
  const read = parseDurationMs(text);
  if (!read.ok || read.value < 1) throw new InvalidArgumentError("A duration such as 90s, 15m or 1h30m.");
  return text;
}

function millisecondsOf(text: string): number {
  const read = parseDurationMs(text);
  return read.ok ? read.value : 0;
}

function parseNamespaces(text: string): readonly string[] {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const wrong = names.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`${JSON.stringify(wrong)} is no name of a namespace.`);
  return names;
}

/** Where the API server finds our webhook: flags of `capstan run` only. */
export interface WebhookFlags {
  readonly webhookPort: number;
  readonly webhookService: { readonly namespace: string; readonly name: string };
  readonly webhookUrl?: string;
}

export const withWebhookFlags = (command: Command): Command =>
  command
    .addOption(
      setting("--webhook-port <port>", "port of the webhook that stamps who asks and who approves")
        .argParser(parsePort)
        .default(9443),
    )
    .addOption(
      setting("--webhook-service <namespace/name>", "the Service by which the API server reaches the webhook")
        .argParser(parseService)
        .default({ namespace: "capstan-system", name: webhookService }, `capstan-system/${webhookService}`),
    )
    .addOption(
      setting("--webhook-url <url>", "https://… by which it reaches us instead, outside of the cluster").argParser(
        parseWebhookUrl,
      ),
    );

function parseService(text: string): WebhookFlags["webhookService"] {
  const [, namespace, name] = /^([a-z0-9][-a-z0-9]*)\/([a-z0-9][-a-z0-9]*)$/.exec(text) ?? [];
  if (!namespace || !name) throw new InvalidArgumentError("A namespace and a name, such as capstan-system/capstan.");
  return { namespace, name };
}

function parseWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" || url.search !== "" || url.username !== "")
    throw new InvalidArgumentError("An address that begins with https://, without a query.");
  return text;
}
