import { CapabilityBinding } from "../../api/capability-binding.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { apiVersionOf } from "../../kube/kind.ts";
import { safeLabelValue } from "../../kube/names.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { controllerReference } from "../../kube/owner-reference.ts";
import { type BindingIdentity, bindingName, distinctBindingName } from "./binding-name.ts";
import type { Resolution, ResolvedRequirement } from "./resolution.ts";
import type { Candidate } from "./rules.ts";

/** A binding as we want it: exactly the fields that we own. */
export interface DesiredBinding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Pick<ObjectMeta, "labels" | "ownerReferences"> & {
    readonly name: string;
    readonly namespace: string;
  };
  readonly spec: CapabilityBinding["spec"];
}

export const managedByLabel = "game.platform/managed-by";
export const managedByValue = "capabilityresolver";
export const controllerName = "capability-resolver";

/** The bindings of one world, sorted by name. */
export function desiredBindings(
  world: WorldInstance,
  game: string,
  bound: readonly BoundRequirement[],
): readonly DesiredBinding[] {
  const wanted = bound.flatMap(({ resolved, providers }) =>
    providers.map((provider) => ({ resolved, provider, identity: identityOf(world, resolved, provider) })),
  );
  const uses = new Map<string, number>();
  for (const { identity } of wanted) uses.set(bindingName(identity), (uses.get(bindingName(identity)) ?? 0) + 1);
  return wanted
    .map(({ resolved, provider, identity }) => {
      const plain = bindingName(identity);
      const name = uses.get(plain) === 1 ? plain : distinctBindingName(identity);
      return toBinding(name, world, game, resolved, provider);
    })
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** A requirement with the providers that this world takes for it. */
export interface BoundRequirement {
  readonly resolved: ResolvedRequirement;
  readonly providers: readonly Candidate[];
}

export const boundRequirements = (resolution: Resolution): readonly BoundRequirement[] =>
  resolution.requirements.flatMap((resolved) =>
    resolved.outcome.kind === "Bound" ? [{ resolved, providers: resolved.outcome.providers }] : [],
  );

export const identityOf = (
  world: WorldInstance,
  { consumer, requirement }: ResolvedRequirement,
  provider: Candidate,
): BindingIdentity => ({
  world: world.metadata.name,
  consumer,
  capabilityId: requirement.capabilityId,
  scope: requirement.scope,
  multiplicity: requirement.multiplicity,
  provider: provider.moduleManifestName,
});

function toBinding(
  name: string,
  world: WorldInstance,
  game: string,
  { consumer, requirement }: ResolvedRequirement,
  { moduleManifestName, provision }: Candidate,
): DesiredBinding {
  const { required, preferred } = requirement.features ?? {};
  return {
    apiVersion: apiVersionOf(CapabilityBinding),
    kind: CapabilityBinding.kind,
    metadata: {
      name,
      namespace: world.metadata.namespace ?? "",
      labels: {
        [managedByLabel]: managedByValue,
        "game.platform/world": safeLabelValue(world.metadata.name),
        "game.platform/game": safeLabelValue(game),
        "game.platform/capabilityId": safeLabelValue(requirement.capabilityId),
        "capstan.dev/controller": controllerName,
        "app.kubernetes.io/managed-by": "capstan",
      },
      ownerReferences: [controllerReference(WorldInstance, world)],
    },
    spec: {
      capabilityId: requirement.capabilityId,
      scope: requirement.scope,
      multiplicity: requirement.multiplicity,
      worldRef: { name: world.metadata.name },
      consumer: {
        moduleManifestName: consumer,
        requirement: {
          versionConstraint: requirement.versionConstraint,
          dependencyMode: requirement.dependencyMode,
          ...(required && required.length > 0 && { requiredFeatures: required }),
          ...(preferred && preferred.length > 0 && { preferredFeatures: preferred }),
        },
      },
      provider: { moduleManifestName, capabilityVersion: provision.version },
    },
  };
}
