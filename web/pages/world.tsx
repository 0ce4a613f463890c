import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CapabilityBinding } from "../../src/api/capability-binding.ts";
import type { ModuleManifest } from "../../src/api/module-manifest.ts";
import type { WorldInstance } from "../../src/api/world-instance.ts";
import type { RequirementReport, WorldReport } from "../../src/controllers/capability-resolver/report.ts";
import { type Answer, send } from "../api.ts";
import { keyOf } from "../live/collection.ts";
import { useObject, useObjects } from "../live/use-live.ts";
import { bindings, modules, worlds } from "../model/kinds.ts";
import { CapabilityGraph } from "../parts/capability-graph.tsx";
import { Conditions } from "../parts/conditions.tsx";
import { EventList, useEventsOf } from "../parts/events.tsx";
import { Card, Empty, Facts, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { YamlCard } from "../parts/yaml.tsx";
import { linkTo } from "../router.ts";

interface WorldPageProps {
  readonly namespace: string;
  readonly name: string;
  /** The requirement to show in detail; the first that is not bound when none is chosen. */
  readonly requirement?: string | undefined;
}

/** One world: who needs what from whom, and for each need every candidate and why it was not taken. */
export function WorldPage({ namespace, name, requirement: chosen }: WorldPageProps): JSX.Element {
  const found = useObject<WorldInstance>(worlds, namespace, name);
  const manifests = useObjects<ModuleManifest>(modules, { namespace });
  const bound = useObjects<CapabilityBinding>(bindings, { namespace });
  const happened = useEventsOf(namespace, name, worlds.kind);
  const world = found.kind === "Live" ? found.value : undefined;
  const revision = [
    world?.metadata.resourceVersion,
    ...(manifests.kind === "Live" ? manifests.value.map(({ metadata }) => metadata.resourceVersion) : []),
  ].join();
  const report = useWorldReport(namespace, name, world ? revision : undefined);
  const above = [{ title: "Worlds", link: linkTo("worlds") }];
  if (!world)
    return (
      <Page title={name} above={above}>
        {found.kind === "Live" ? (
          <Empty title={`There is no world ${name} in ${namespace}`} />
        ) : (
          <Waiting state={found} what="worlds" />
        )}
      </Page>
    );
  const requirements = report?.kind === "Done" ? report.value.requirements : [];
  const shown = chosen === undefined ? requirements.findIndex(({ outcome }) => outcome !== "Bound") : Number(chosen);
  const requirement = requirements[shown];
  const own = bound.kind === "Live" ? bound.value.filter(({ spec }) => spec.worldRef?.name === name) : [];
  return (
    <Page title={name} above={above} aside={<State word={world.status?.phase} />}>
      <Card title="Who needs what from whom">
        {world.status?.message && <p class="lead">{world.status.message}</p>}
        <Facts
          facts={[
            ["Game", world.spec.gameRef.name],
            ["Namespace", namespace],
            ["Region", world.spec.region],
            ["Shards", world.spec.shardCount],
          ]}
        />
        {report === undefined ? (
          <p class="quiet loading">Asking the resolver…</p>
        ) : report.kind === "Refused" ? (
          <p class="notice bad">The resolver gave no answer: {report.message}</p>
        ) : requirements.length === 0 ? (
          <Empty title="No module of this game needs anything" />
        ) : (
          <CapabilityGraph
            requirements={requirements}
            selected={shown}
            linkOf={(index) => linkTo("worlds", namespace, name, String(index))}
          />
        )}
      </Card>
      {requirement && <RequirementCard requirement={requirement} />}
      <BindingsCard list={own} />
      <Card title="Conditions">
        <Conditions conditions={world.status?.conditions ?? []} />
      </Card>
      <Card title="Events">
        {happened.length > 0 ? <EventList list={happened} /> : <p class="quiet">None are kept.</p>}
      </Card>
      <YamlCard object={world} />
    </Page>
  );
}

/** What the resolver says of a world, asked again whenever `revision` changes; the server uses the code that binds. */
function useWorldReport(
  namespace: string,
  name: string,
  revision: string | undefined,
): Answer<WorldReport> | undefined {
  const [report, setReport] = useState<Answer<WorldReport>>();
  useEffect(() => {
    if (revision === undefined) return;
    let isCurrent = true;
    const path = `/ui/api/worlds/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
    void send<WorldReport>("GET", path).then((answer) => isCurrent && setReport(answer));
    return () => {
      isCurrent = false;
    };
  }, [namespace, name, revision]);
  return report;
}

function RequirementCard({ requirement }: { readonly requirement: RequirementReport }): JSX.Element {
  const {
    consumer,
    capabilityId,
    versionConstraint,
    scope,
    dependencyMode,
    providers,
    refused,
    reason,
    remedy,
    outcome,
  } = requirement;
  return (
    <Card
      title={`${consumer} needs ${capabilityId}`}
      isLive
      aside={
        <State
          word={outcome === "Bound" ? "bound" : "unresolved"}
          tone={outcome === "Bound" ? "good" : dependencyMode === "optional" ? "wait" : "bad"}
        />
      }
    >
      <Facts
        facts={[
          ["Versions", versionConstraint],
          ["Scope", scope],
          ["Mode", dependencyMode],
        ]}
      />
      {reason && <p class="bad-text">{reason}</p>}
      {remedy && (
        <p>
          <strong>To mend it:</strong> {remedy}.
        </p>
      )}
      <div class="scroll-x">
        <table aria-label="Candidates">
          <thead>
            <tr>
              <th scope="col">Candidate</th>
              <th scope="col">Version</th>
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {providers.map(({ module, version }) => (
              <tr key={module}>
                <th scope="row">{module}</th>
                <td>{version}</td>
                <td>
                  <State word="taken" tone="good" />
                </td>
              </tr>
            ))}
            {refused.map(({ module, version, objection }) => (
              <tr key={`${module} ${version} ${objection}`}>
                <th scope="row">{module}</th>
                <td>{version}</td>
                <td class="bad-text">{objection}</td>
              </tr>
            ))}
            {providers.length + refused.length === 0 && (
              <tr>
                <td colSpan={3} class="quiet">
                  No module of the game offers {capabilityId}.
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function BindingsCard({ list }: { readonly list: readonly CapabilityBinding[] }): JSX.Element {
  return (
    <Card title="Bindings" aside={<span class="count">{list.length}</span>}>
      {list.length === 0 ? (
        <Empty title={bindings.empty} />
      ) : (
        <div class="scroll-x">
          <table aria-label="Bindings">
            <thead>
              <tr>
                <th scope="col">Consumer</th>
                <th scope="col">Capability</th>
                <th scope="col">Provider</th>
                <th scope="col">State</th>
                <th scope="col">Endpoint</th>
              </tr>
            </thead>
            <tbody>
              {list.map((binding) => (
                <tr key={keyOf(binding)}>
                  <td>{binding.spec.consumer.moduleManifestName}</td>
                  <td>
                    <a href={linkTo("bindings", binding.metadata.namespace ?? "", binding.metadata.name)}>
                      {binding.spec.capabilityId}
                    </a>{" "}
                    <span class="quiet">{binding.spec.scope}</span>
                  </td>
                  <td>
                    {binding.spec.provider.moduleManifestName}{" "}
                    <span class="quiet">{binding.spec.provider.capabilityVersion}</span>
                  </td>
                  <td>
                    <State word={binding.status?.phase} />
                  </td>
                  <td>
                    {binding.status?.resolvedEndpoint ? (
                      <code>{binding.status.resolvedEndpoint}</code>
                    ) : (
                      <span class="quiet">not known</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
