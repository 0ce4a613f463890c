import type { JSX } from "preact";
import type { ClassRuntime } from "../../src/api/class-runtime.ts";
import { useObject } from "../live/use-live.ts";
import { classRuntimes } from "../model/kinds.ts";
import { timelineOf } from "../model/timeline.ts";
import { Ago } from "../parts/ago.tsx";
import { Conditions } from "../parts/conditions.tsx";
import { timeOf, useEventsOf } from "../parts/events.tsx";
import { NfrCard } from "../parts/nfr.tsx";
import { Card, Empty, Facts, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { StateMachine } from "../parts/state-machine.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { YamlCard } from "../parts/yaml.tsx";
import { linkTo } from "../router.ts";

const shownMoments = 30;

/** One class runtime: where it is in its life and why, function by function. */
export function ClassRuntimePage({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): JSX.Element {
  const found = useObject<ClassRuntime>(classRuntimes, namespace, name);
  const happened = useEventsOf(namespace, name, classRuntimes.kind);
  const above = [{ title: "Class runtimes", link: linkTo("class-runtimes") }];
  if (found.kind !== "Live" || !found.value)
    return (
      <Page title={name} above={above}>
        {found.kind === "Live" ? (
          <Empty title={`There is no ${name} in ${namespace}`} />
        ) : (
          <Waiting state={found} what="class runtimes" />
        )}
      </Page>
    );
  const runtime = found.value;
  const { status, spec, metadata } = runtime;
  const phase = status?.phase ?? "pending";
  const moments = timelineOf({
    createdAt: metadata.creationTimestamp,
    phase: status?.phase,
    phaseSince: status?.phase_since,
    conditions: status?.conditions ?? [],
    events: happened.map((event) => ({
      type: event.type,
      reason: event.reason,
      message: event.message,
      count: event.count,
      time: timeOf(event),
    })),
  });
  return (
    <Page title={name} above={above} aside={<State word={phase} />}>
      <Card label="State">
        <StateMachine phase={phase} />
        {status?.message && <p class="lead">{status.message}</p>}
        <Facts
          facts={[
            ["Class", spec.package_class_key],
            ["Namespace", namespace],
            ["In this state since", <Ago key="since" time={status?.phase_since} />],
            ["Template", status?.functions?.[0]?.template ?? spec.selected_template],
            [
              "Data store",
              spec.addons.includes("odgm") ? (spec.odgm_config?.collections ?? []).join(", ") || "odgm" : "none",
            ],
            ["Objects made", status?.resource_refs?.length],
          ]}
        />
      </Card>
      <FunctionsCard runtime={runtime} />
      <NfrCard runtime={runtime} />
      <div class="columns">
        <Card title="Timeline">
          <Timeline moments={moments.slice(0, shownMoments)} />
        </Card>
        <Card title="Objects made for it">
          {status?.resource_refs?.length ? (
            <ul class="refs">
              {status.resource_refs.map((reference) => (
                <li key={`${reference.kind}/${reference.name}`}>
                  <span class="quiet">{reference.kind}</span> {reference.name}
                </li>
              ))}
            </ul>
          ) : (
            <Empty title="Nothing was made yet" />
          )}
        </Card>
      </div>
      <Card title="Conditions">
        <Conditions conditions={status?.conditions ?? []} />
      </Card>
      <YamlCard object={runtime} />
    </Page>
  );
}

function FunctionsCard({ runtime: { spec, status } }: { readonly runtime: ClassRuntime }): JSX.Element {
  const functions = spec.functions ?? [];
  return (
    <Card title="Functions" aside={<span class="count">{functions.length}</span>}>
      {functions.length === 0 ? (
        <Empty title="The class has no function">Only its data store is deployed.</Empty>
      ) : (
        <div class="scroll-x">
          <table aria-label="Functions">
            <thead>
              <tr>
                <th scope="col">Function</th>
                <th scope="col">Ready</th>
                <th scope="col">Image</th>
                <th scope="col">Address</th>
                <th scope="col">Since</th>
              </tr>
            </thead>
            <tbody>
              {functions.map((fn) => {
                const state = status?.functions?.find(({ function_key: key }) => key === fn.function_key);
                const url = state?.observed_url ?? state?.predicted_url;
                return (
                  <tr key={fn.function_key}>
                    <th scope="row">{fn.function_key}</th>
                    <td>
                      <State
                        word={state?.ready ? "ready" : (state?.reason ?? "pending")}
                        tone={state?.ready ? "good" : state?.reason ? "bad" : "wait"}
                      />
                      {!state?.ready && state?.message && <div class="quiet prose">{state.message}</div>}
                    </td>
                    <td class="quiet">
                      {fn.provision_config?.container_image ??
                        fn.provision_config?.wasm_module_url ??
                        fn.container_image}
                    </td>
                    <td>{url && <code>{url}</code>}</td>
                    <td class="quiet nowrap">
                      <Ago time={state?.lastTransitionTime} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
