import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { stringify } from "yaml";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { annotations } from "../../src/api/well-known.ts";
import { send } from "../api.ts";
import { useObject } from "../live/use-live.ts";
import { comparisonsOf, parametersOf, targetOf } from "../model/execution-diff.ts";
import { executions } from "../model/kinds.ts";
import { inWords } from "../model/tone.ts";
import { Ago } from "../parts/ago.tsx";
import { ApprovalCard } from "../parts/approval.tsx";
import { AuditCard } from "../parts/audit.tsx";
import { Diff } from "../parts/diff.tsx";
import { EventList, useEventsOf } from "../parts/events.tsx";
import { Card, Empty, Facts, Page, Waiting } from "../parts/page.tsx";
import { PhaseSteps } from "../parts/phase-steps.tsx";
import { State } from "../parts/state.tsx";
import { ValidationCard } from "../parts/validation.tsx";
import { YamlCard } from "../parts/yaml.tsx";
import { linkTo } from "../router.ts";

/** One action: what it would do or did, what speaks for and against it, and who has the word. */
export function ActionPage({ namespace, name }: { readonly namespace: string; readonly name: string }): JSX.Element {
  const found = useObject<KubernetesExecution>(executions, namespace, name);
  const happened = useEventsOf(namespace, name, executions.kind);
  const above = [{ title: "Actions", link: linkTo("actions") }];
  if (found.kind !== "Live" || !found.value)
    return (
      <Page title={name} above={above}>
        {found.kind === "Live" ? (
          <Empty title={`There is no ${name} in ${namespace}`} />
        ) : (
          <Waiting state={found} what="actions" />
        )}
      </Page>
    );
  const execution = found.value;
  const { status, spec, metadata } = execution;
  const phase = status?.phase ?? "validating";
  return (
    <Page title={name} above={above} aside={<State word={phase} />}>
      <Card label="Progress">
        <PhaseSteps phase={phase} reached={reachedBy(execution)} />
        {status?.message && <p class={phase === "failed" ? "lead bad-text" : "lead"}>{status.message}</p>}
        <Facts
          facts={[
            ["Action", inWords(spec.action)],
            ["Target", targetText(execution)],
            ["Asked for by", metadata.annotations?.[annotations.requestedBy]],
            ["Created", <Ago key="created" time={metadata.creationTimestamp} />],
            ["In this phase since", <Ago key="phase" time={status?.phaseStartTime} />],
            ["Failed because", status?.reason && inWords(status.reason)],
            ["Step of", parentLink(execution)],
            ["Took", status?.executionResults?.duration],
          ]}
        />
      </Card>
      <ApprovalCard execution={execution} />
      <ChangeCard execution={execution} />
      <ValidationCard execution={execution} />
      <RollbackCard execution={execution} />
      <AuditCard namespace={namespace} name={name} revision={metadata.resourceVersion ?? ""} />
      <Card title="Events">
        {happened.length > 0 ? <EventList list={happened} /> : <p class="quiet">None are kept.</p>}
      </Card>
      <YamlCard object={execution} />
    </Page>
  );
}

/** Conditions tell how far an execution came before it failed. */
function reachedBy({ status }: KubernetesExecution): string {
  const of = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  if (of("Executed")) return "executing";
  if (of("Approved") && of("Approved")?.reason !== "ApprovalNotRequired") return "waiting_approval";
  return "validating";
}

function targetText(execution: KubernetesExecution): string {
  const target = targetOf(execution);
  if (target) return `${target.kind} ${target.namespace ? `${target.namespace}/` : ""}${target.name}`;
  return [execution.spec.targetNamespace, execution.spec.resourceName].filter(Boolean).join("/");
}

function parentLink({ spec, metadata }: KubernetesExecution): JSX.Element | undefined {
  const parent = spec.remediationRequestRef ?? spec.workflowExecutionRef;
  if (!parent?.name) return undefined;
  const section = spec.remediationRequestRef ? "remediations" : "workflows";
  return <a href={linkTo(section, parent.namespace ?? metadata.namespace ?? "", parent.name)}>{parent.name}</a>;
}

function ChangeCard({ execution }: { readonly execution: KubernetesExecution }): JSX.Element {
  const current = useTarget(execution);
  const comparisons = comparisonsOf(execution, current);
  const impact = execution.status?.validationResults?.dryRunResults?.estimatedImpact;
  return (
    <Card title="Before and after">
      {comparisons.map((comparison) => (
        <Diff key={comparison.title} comparison={comparison} />
      ))}
      {impact && (
        <Facts
          facts={[
            ["Dry run says", impact.description],
            ["Replicas", impact.replicasChanged],
            ["Objects affected", impact.resourcesAffected],
          ]}
        />
      )}
      {comparisons.length === 0 && (
        <p class="quiet">What it changes is known once it has run. These are its parameters:</p>
      )}
      <details open={comparisons.length === 0}>
        <summary>Parameters</summary>
        <pre>{stringify(parametersOf(execution))}</pre>
      </details>
    </Card>
  );
}

/** The object that is to be changed, read as the person; nothing where they may not. */
function useTarget(execution: KubernetesExecution): Readonly<Record<string, unknown>> | undefined {
  const [current, setCurrent] = useState<Readonly<Record<string, unknown>>>();
  const path = targetOf(execution)?.path;
  const phase = execution.status?.phase;
  useEffect(() => {
    if (path === undefined) return;
    let isCurrent = true;
    void send<Readonly<Record<string, unknown>>>("GET", `/k8s${path}`).then((answer) => {
      if (isCurrent && answer.kind === "Done") setCurrent(answer.value);
    });
    return () => {
      isCurrent = false;
    };
  }, [path, phase]);
  return current;
}

function RollbackCard({ execution }: { readonly execution: KubernetesExecution }): JSX.Element | null {
  const rollback = execution.status?.rollbackInformation;
  if (!rollback) return null;
  return (
    <Card title="Rollback">
      {rollback.available ? (
        <Facts
          facts={[
            ["Undone by", rollback.rollbackAction && inWords(rollback.rollbackAction)],
            ["Takes about", rollback.estimatedDuration ?? rollback.estimatedRollbackDuration],
          ]}
        />
      ) : (
        <p>It cannot be undone by an action. {rollback.rollbackParameters?.custom?.description}</p>
      )}
      <p class="quiet">Nothing is undone by itself.</p>
    </Card>
  );
}
