import { CapabilityBinding } from "../../api/capability-binding.ts";
import type { Provided, Requirement } from "../../api/module-manifest.ts";
import { labels } from "../../api/well-known.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { apiVersionOf } from "../../kube/kind.ts";
import { safeLabelValue } from "../../kube/names.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { controllerReference } from "../../kube/owner-reference.ts";
import { type BindingIdentity, bindingName } from "./binding-name.ts";
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

export const managedByValue = "capabilityresolver";
export const controllerName = "capability-resolver";

/** That a consumer's requirement is served by a provider, in any world. The same decision is always the same object. */
export interface Pairing {
  readonly consumer: string;
  readonly requirement: Requirement;
  readonly provider: Candidate;
}

/** A requirement with the providers that a world takes for it. */
export interface BoundRequirement {
  readonly resolved: ResolvedRequirement;
  readonly providers: readonly Candidate[];
}

export const boundRequirements = (resolution: Resolution): readonly BoundRequirement[] =>
  resolution.requirements.flatMap((resolved) =>
    resolved.outcome.kind === "Bound" ? [{ resolved, providers: resolved.outcome.providers }] : [],
  );

export interface Pairings {
  readonly all: ReadonlySet<Pairing>;
  /** Pairings whose plain names would be equal, such as those of `a.b-c` and `a-b.c`. */
  readonly ambiguous: ReadonlySet<Pairing>;
}

export function pairingsOf(bound: readonly BoundRequirement[]): Pairings {
  const all = bound.flatMap(({ resolved, providers }) => providers.map((provider) => pairing(resolved, provider)));
  const byName = Map.groupBy(all, (entry) => bindingName(identityOf("", entry)));
  const ambiguous = [...byName.values()].filter((entries) => entries.length > 1).flat();
  return { all: new Set(all), ambiguous: new Set(ambiguous) };
}

/** Worlds of one game differ only in their names, so what does not depend on a world is worked out once. */
export function pairingsOfResolution(resolution: Resolution): Pairings {
  const known = knownPairings.get(resolution) ?? pairingsOf(boundRequirements(resolution));
  knownPairings.set(resolution, known);
  return known;
}

const knownPairings = new WeakMap<Resolution, Pairings>();
const pairingOf = new WeakMap<Requirement, WeakMap<Provided, Pairing>>();

/** Objects of the cache never change, so a pairing outlives every resolution in which both sides stay as they are. */
function pairing({ consumer, requirement }: ResolvedRequirement, provider: Candidate): Pairing {
  const byProvision = pairingOf.get(requirement) ?? new WeakMap<Provided, Pairing>();
  pairingOf.set(requirement, byProvision);
  const known = byProvision.get(provider.provision) ?? { consumer, requirement, provider };
  byProvision.set(provider.provision, known);
  return known;
}

export function desiredBinding(world: WorldInstance, game: string, wanted: Pairing, name: string): DesiredBinding {
  const { consumer, requirement, provider } = wanted;
  const { required, preferred } = requirement.features ?? {};
  return {
    apiVersion: apiVersionOf(CapabilityBinding),
    kind: CapabilityBinding.kind,
    metadata: {
      name,
      namespace: world.metadata.namespace ?? "",
      labels: {
        [labels.bindingManagedBy]: managedByValue,
        [labels.world]: safeLabelValue(world.metadata.name),
        [labels.game]: safeLabelValue(game),
        [labels.capabilityId]: safeLabelValue(requirement.capabilityId),
        [labels.controller]: controllerName,
        [labels.managedBy]: "capstan",
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
      provider: { moduleManifestName: provider.moduleManifestName, capabilityVersion: provider.provision.version },
    },
  };
}

export const identityOf = (world: string, { consumer, requirement, provider }: Pairing): BindingIdentity => ({
  world,
  consumer,
  capabilityId: requirement.capabilityId,
  scope: requirement.scope,
  multiplicity: requirement.multiplicity,
  provider: provider.moduleManifestName,
});
