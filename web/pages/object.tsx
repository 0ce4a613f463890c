import type { JSX } from "preact";
import type { StepStatus } from "../../src/api/workflow-step.ts";
import type { Condition } from "../../src/kube/condition.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { useObject } from "../live/use-live.ts";
import type { Kind } from "../model/kinds.ts";
import { Ago } from "../parts/ago.tsx";
import { Conditions } from "../parts/conditions.tsx";
import { EventList, useEventsOf } from "../parts/events.tsx";
import { Card, Empty, Facts, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { YamlCard } from "../parts/yaml.tsx";
import { linkTo } from "../router.ts";

interface ShownObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly overallPhase?: string;
    readonly health?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly stepStatuses?: readonly StepStatus[];
  };
}

interface ObjectPageProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** One object of any kind: its state in words, its conditions, what happened to it, and the whole of it as YAML. */
export function ObjectPage({ kind, namespace, name }: ObjectPageProps): JSX.Element {
  const found = useObject<ShownObject>(kind, namespace, name);
  const happened = useEventsOf(namespace, name, kind.kind);
  const above = [{ title: kind.title, link: linkTo("browse", kind.id) }];
  if (found.kind !== "Live" || !found.value)
    return (
      <Page title={name} above={above}>
        {found.kind === "Live" ? (
          <Empty title={`There is no ${name} in ${namespace}`} />
        ) : (
          <Waiting state={found} what={kind.title.toLowerCase()} />
        )}
      </Page>
    );
  const object = found.value;
  const { phase, overallPhase, health, message, conditions = [], stepStatuses = [] } = object.status ?? {};
  const state = phase ?? overallPhase ?? health;
  return (
    <Page title={name} above={above} aside={state && <State word={state} />}>
      <Card label="State">
        {message && <p class="lead">{message}</p>}
        <Facts
          facts={[
            ["Kind", object.kind ?? kind.kind],
            ["Namespace", namespace],
            ["Created", <Ago key="created" time={object.metadata.creationTimestamp} />],
          ]}
        />
      </Card>
      {stepStatuses.length > 0 && <Steps steps={stepStatuses} namespace={namespace} />}
      {conditions.length > 0 && (
        <Card title="Conditions">
          <Conditions conditions={conditions} />
        </Card>
      )}
      {happened.length > 0 && (
        <Card title="Events">
          <EventList list={happened} />
        </Card>
      )}
      <YamlCard object={object} isOpen />
    </Page>
  );
}

function Steps({
  steps,
  namespace,
}: {
  readonly steps: readonly StepStatus[];
  readonly namespace: string;
}): JSX.Element {
  return (
    <Card title="Steps">
      <div class="scroll-x">
        <table aria-label="Steps">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">State</th>
              <th scope="col">Action</th>
              <th scope="col">Message</th>
            </tr>
          </thead>
          <tbody>
            {steps.map((step) => {
              const execution = step.k8sExecutionRef;
              return (
                <tr key={step.stepNumber}>
                  <th scope="row">{step.stepNumber}</th>
                  <td>
                    <State word={step.status} />
                  </td>
                  <td>
                    {execution?.name && (
                      <a href={linkTo("actions", execution.namespace ?? namespace, execution.name)}>{execution.name}</a>
                    )}
                  </td>
                  <td class="prose">{step.errorMessage ?? step.name}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
