import type { JSX } from "preact";
import { type KubeObject, keyOf } from "../kube.ts";
import { Phase, StateNotice } from "../parts.tsx";
import { linkTo } from "../router.ts";
import { useObjects } from "../use-live.ts";

interface World extends KubeObject {
  readonly spec: { readonly gameRef: { readonly name: string }; readonly region: string };
  readonly status?: { readonly phase?: string; readonly message?: string };
}

interface Binding extends KubeObject {
  readonly spec: {
    readonly capabilityId: string;
    readonly scope: string;
    readonly worldRef?: { readonly name: string };
    readonly consumer: { readonly moduleManifestName: string };
    readonly provider: { readonly moduleManifestName: string; readonly capabilityVersion?: string };
  };
  readonly status?: { readonly phase?: string; readonly resolvedEndpoint?: string };
}

const group = "/apis/game.platform/v1alpha1";

/** Every world, what is bound in it, and why a world is not running. */
export function Worlds(): JSX.Element {
  const worlds = useObjects<World>(`${group}/worldinstances`);
  const bindings = useObjects<Binding>(`${group}/capabilitybindings`);
  if (worlds.kind !== "Live") return <StateNotice state={worlds} />;
  if (worlds.value.length === 0)
    return <p class="quiet">No world yet. Apply one with kubectl; it appears here at once.</p>;
  return (
    <>
      {worlds.value.map((world) => (
        <WorldCard
          key={keyOf(world)}
          world={world}
          bindings={bindings.kind === "Live" ? bindings.value.filter((binding) => isOf(binding, world)) : []}
        />
      ))}
    </>
  );
}

const isOf = ({ metadata, spec }: Binding, world: World): boolean =>
  metadata.namespace === world.metadata.namespace && spec.worldRef?.name === world.metadata.name;

function WorldCard({ world, bindings }: { readonly world: World; readonly bindings: readonly Binding[] }): JSX.Element {
  const { name, namespace } = world.metadata;
  return (
    <section class="card" aria-label={`World ${name}`}>
      <header>
        <h2>
          <a href={linkTo("worlds", namespace ?? "", name)}>{name}</a>
        </h2>
        <Phase phase={world.status?.phase} />
        <span class="quiet">
          {namespace} · game {world.spec.gameRef.name} · {world.spec.region}
        </span>
      </header>
      <p>{world.status?.message ?? "Not looked at yet"}</p>
      {bindings.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Consumer</th>
              <th scope="col">Capability</th>
              <th scope="col">Provider</th>
              <th scope="col">Version</th>
              <th scope="col">Endpoint</th>
            </tr>
          </thead>
          <tbody>
            {bindings.map((binding) => (
              <tr key={keyOf(binding)}>
                <td>{binding.spec.consumer.moduleManifestName}</td>
                <td>
                  {binding.spec.capabilityId} <span class="quiet">({binding.spec.scope})</span>
                </td>
                <td>{binding.spec.provider.moduleManifestName}</td>
                <td>{binding.spec.provider.capabilityVersion}</td>
                <td>{binding.status?.resolvedEndpoint ?? <span class="quiet">not known</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
