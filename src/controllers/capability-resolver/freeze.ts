import type { CapabilityBinding } from "../../api/capability-binding.ts";
import { annotations } from "../../api/well-known.ts";
import type { WorldInstance } from "../../api/world-instance.ts";
import { type BoundRequirement, boundRequirements } from "./desired-bindings.ts";
import { type Resolution, type ResolvedRequirement, requirementKey } from "./resolution.ts";
import type { Candidate } from "./rules.ts";

/** A frozen world keeps the providers that it has, as long as they still fit; what it would take otherwise is reported. */
export const isFrozen = (world: WorldInstance): boolean =>
  world.metadata.annotations?.[annotations.freezeBindings] === "true";

export interface Kept {
  readonly bound: readonly BoundRequirement[];
  /** What a thaw would change, one sentence each, sorted. */
  readonly waiting: readonly string[];
}

export function keepProviders(resolution: Resolution, existing: readonly CapabilityBinding[]): Kept {
  const best = boundRequirements(resolution);
  const current = new Map<string, Held>();
  for (const { spec } of existing) {
    const key = `${spec.consumer.moduleManifestName} ${requirementKey(spec)}`;
    const held = current.get(key) ?? new Map();
    current.set(key, held.set(spec.provider.moduleManifestName, spec.provider.capabilityVersion));
  }
  const waiting: string[] = [];
  const bound = best.map((requirement) => {
    const { resolved } = requirement;
    const held = current.get(`${resolved.consumer} ${requirementKey(resolved.requirement)}`);
    const kept = held ? keep(held, resolved) : [];
    if (kept.length === 0) return requirement;
    const providers = resolved.requirement.multiplicity === "many" ? kept : kept.slice(0, 1);
    for (const newer of requirement.providers) {
      if (!providers.includes(newer)) {
        waiting.push(
          `${resolved.consumer} could take ${resolved.requirement.capabilityId} ${newer.provision.version} of ${newer.moduleManifestName}`,
        );
      }
    }
    return { resolved, providers };
  });
  return { bound, waiting: waiting.sort() };
}

/** The versions that a world has, by module. */
type Held = Map<string, string | undefined>;

/** The very version that the world has, or the module's best one when it no longer offers that. */
function keep(held: Held, { candidates }: ResolvedRequirement): readonly Candidate[] {
  const compatible = candidates.filter(({ objection }) => objection === undefined);
  return [...held].flatMap(([module, version]) => {
    const offered = compatible.filter(({ moduleManifestName }) => moduleManifestName === module);
    return offered.find(({ provision }) => provision.version === version) ?? offered[0] ?? [];
  });
}
