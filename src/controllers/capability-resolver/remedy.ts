import type { Requirement } from "../../api/module-manifest.ts";
import { nearestOf, type ResolvedRequirement } from "./resolution.ts";
import type { Candidate, RuleName } from "./rules.ts";

/** The smallest change that would satisfy an unresolved requirement, as a sentence; nothing when it is satisfied. */
export function remedyOf({
  consumer,
  index,
  requirement,
  outcome,
  candidates,
}: ResolvedRequirement): string | undefined {
  const place = `${consumer} spec.requires[${index}]`;
  switch (outcome.kind) {
    case "Bound":
      return undefined;
    case "InvalidConstraint":
      return `write a version constraint such as "^1.0.0" in ${place}.versionConstraint`;
    case "Duplicate":
      return `remove ${place}: spec.requires[${outcome.firstIndex}] already states it`;
    case "Unresolved": {
      const nearest = nearestOf(requirement, candidates);
      if (!nearest)
        return `add a module to the game that provides ${requirement.capabilityId} in scope ${requirement.scope}`;
      const { candidate, objections } = nearest;
      return objections.map(({ rule }) => changes[rule](place, requirement, candidate)).join(", and ");
    }
  }
}

type Change = (place: string, requirement: Requirement, candidate: Candidate) => string;

const changes: Readonly<Record<RuleName, Change>> = {
  scope: (place, { scope }, { moduleManifestName, provision }) =>
    `let ${moduleManifestName} provide ${provision.capabilityId} in scope ${scope}, or require scope ${provision.scope} in ${place}`,
  multiplicity: (place, _, { moduleManifestName, provision }) =>
    `let ${moduleManifestName} provide ${provision.capabilityId} with multiplicity many, or require "1" in ${place}`,
  version: (place, { versionConstraint }, { moduleManifestName, provision }) =>
    `let ${moduleManifestName} provide a version that satisfies ${versionConstraint}, or accept ${provision.version} in ${place}.versionConstraint ("${versionConstraint} || ${provision.version}")`,
  features: (place, { features }, { moduleManifestName, provision }) =>
    `let ${moduleManifestName} support ${missing(features?.required, provision.features?.supported)}, or do without it in ${place}.features.required`,
  latency: (place, { nfr }, { moduleManifestName, provision }) =>
    `let ${moduleManifestName} declare a p95 latency of at most ${nfr?.latency?.p95Ms?.value} ms${offered(provision.nfr?.latency?.p95Ms?.value, "ms")}, or relax ${place}.nfr.latency`,
  tickRate: (place, { nfr }, { moduleManifestName, provision }) =>
    `let ${moduleManifestName} declare a tick rate of at least ${nfr?.tickRateHz?.value} Hz${offered(provision.nfr?.tickRateHz?.value, "Hz")}, or relax ${place}.nfr.tickRateHz`,
};

const missing = (required: readonly string[] = [], supported: readonly string[] = []): string =>
  required
    .filter((feature) => !supported.includes(feature))
    .sort()
    .join(", ");

const offered = (value: number | undefined, unit: string): string =>
  value === undefined ? "" : ` (it has ${value} ${unit})`;
