// The reasons of events, kind by kind, from the closed sets that the controllers choose from.
import { ClassRuntime, classRuntimeEvents } from "../../src/api/class-runtime.ts";
import { executionEvents, KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { PaperMCServer, paperServerEvents } from "../../src/api/papermc-server.ts";
import { Plugin, pluginEvents } from "../../src/api/plugin.ts";
import { RemediationRequest, remediationEvents } from "../../src/api/remediation-request.ts";
import { WorldInstance, worldEvents } from "../../src/api/world-instance.ts";
import type { Kind } from "../../src/kube/kind.ts";
import { code, generatedFrom, page, table } from "./markdown.ts";

const reasonsByKind: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  [WorldInstance.kind, worldEvents],
  [ClassRuntime.kind, classRuntimeEvents],
  [PaperMCServer.kind, paperServerEvents],
  [Plugin.kind, pluginEvents],
  [KubernetesExecution.kind, executionEvents],
  [RemediationRequest.kind, remediationEvents],
]);

export const eventsPage = (): string =>
  page([
    generatedFrom("src/api"),
    "# Events",
    "What happened, and only that: a reconcile that changes nothing says nothing. `kubectl describe` and `capstan explain` show them. Messages are sentences for people; match on the reason.",
    table(
      ["Object", "Reasons"],
      [...reasonsByKind].map(([kind, reasons]) => [
        `[${kind}](${kind.toLowerCase()}.md)`,
        reasons.map(code).join(", "),
      ]),
    ),
  ]);

export function eventsSection({ kind }: Kind): readonly string[] {
  const reasons = reasonsByKind.get(kind);
  return reasons
    ? [
        "## Events",
        table(
          ["Reason"],
          reasons.map((reason) => [code(reason)]),
        ),
      ]
    : [];
}
