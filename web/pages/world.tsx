import type { JSX } from "preact";
import { CapabilityGraph } from "../capability-graph.tsx";
import type { KubeObject } from "../kube.ts";
import { Phase, StateNotice } from "../parts.tsx";
import { linkTo } from "../router.ts";
import { useObjects } from "../use-live.ts";
import { type RequirementReport, useWorldReport } from "../world-report.ts";

const group = "/apis/game.platform/v1alpha1";

interface WorldPageProps {
  readonly namespace: string;
  readonly name: string;
  /** The requirement to show in detail; the first that is not bound when none is chosen. */
  readonly requirement?: string | undefined;
}

/** One world: who needs what from whom, and for each need every candidate and why it was not taken. */
export function WorldPage({ namespace, name, requirement: chosen }: WorldPageProps): JSX.Element {
  const worlds = useObjects<KubeObject>(`${group}/namespaces/${namespace}/worldinstances`);
  const modules = useObjects<KubeObject>(`${group}/namespaces/${namespace}/modulemanifests`);
  const revision = [worlds, modules]
    .flatMap((live) => (live.kind === "Live" ? live.value.map(({ metadata }) => metadata.resourceVersion) : []))
    .join();
  const report = useWorldReport(namespace, name, revision);
  if (worlds.kind !== "Live") return <StateNotice state={worlds} />;
  if (!report)
    return (
      <p class="quiet">
        There is no world {name} in {namespace}.
      </p>
    );
  const shown =
    chosen === undefined ? report.requirements.findIndex(({ outcome }) => outcome !== "Bound") : Number(chosen);
  const requirement = report.requirements[shown];
  return (
    <>
      <section class="card" aria-label={`World ${name}`}>
        <header>
          <h2>{name}</h2>
          <Phase phase={report.phase} />
          <span class="quiet">
            {namespace} · game {report.game}
          </span>
        </header>
        <p>{report.message}</p>
        {report.requirements.length > 0 && (
          <CapabilityGraph
            requirements={report.requirements}
            selected={shown}
            linkOf={(index) => linkTo("worlds", namespace, name, String(index))}
          />
        )}
      </section>
      {requirement && <RequirementCard requirement={requirement} />}
    </>
  );
}

function RequirementCard({ requirement }: { readonly requirement: RequirementReport }): JSX.Element {
  const { consumer, capabilityId, versionConstraint, scope, dependencyMode, providers, refused, reason, remedy } =
    requirement;
  return (
    <section class="card" id="requirement" aria-live="polite">
      <header>
        <h2>
          {consumer} needs {capabilityId}
        </h2>
        <span class="quiet">
          {versionConstraint} · scope {scope} · {dependencyMode}
        </span>
      </header>
      {reason && <p class="bad">{reason}</p>}
      {remedy && <p>To mend it: {remedy}.</p>}
      <table>
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
              <td>{module}</td>
              <td>{version}</td>
              <td class="good">taken</td>
            </tr>
          ))}
          {refused.map(({ module, version, objection }) => (
            <tr key={`${module} ${version} ${objection}`}>
              <td>{module}</td>
              <td>{version}</td>
              <td class="bad">{objection}</td>
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
    </section>
  );
}
