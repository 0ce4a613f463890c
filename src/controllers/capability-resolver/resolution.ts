import type { GameDefinition } from "../../api/game-definition.ts";
import type { ModuleManifest, Requirement } from "../../api/module-manifest.ts";
import { compareSemVer } from "../../versions/semver.ts";
import { allObjectionsTo, type Candidate, type Objection, objectionTo, readConstraint, readVersion } from "./rules.ts";

/**
 * Which provider each requirement of a game's modules is bound to, and why not another. Pure; it does not depend on the
 * world, so that all worlds of one game share one resolution.
 */
export interface Resolution {
  /** In the order of consumer name, then of the requirement in its manifest. */
  readonly requirements: readonly ResolvedRequirement[];
  /** Modules that the game names but that do not exist, sorted. */
  readonly missingRequired: readonly string[];
  readonly missingOptional: readonly string[];
}

export interface ResolvedRequirement {
  readonly consumer: string;
  /** The place in the consumer's `spec.requires`. */
  readonly index: number;
  readonly requirement: Requirement;
  readonly outcome: Outcome;
  /** Every provider of the capability in any scope, best first; the ones that were refused say why. */
  readonly candidates: readonly JudgedCandidate[];
}

export type Outcome =
  /** One provider for multiplicity "1", every compatible one for "many". */
  | { readonly kind: "Bound"; readonly providers: readonly Candidate[] }
  | { readonly kind: "Unresolved" }
  | { readonly kind: "InvalidConstraint"; readonly column: number; readonly message: string }
  /** The same capability, scope and multiplicity stands earlier in the same manifest. */
  | { readonly kind: "Duplicate"; readonly firstIndex: number };

export interface JudgedCandidate extends Candidate {
  /** Absent when the candidate is compatible. */
  readonly objection?: Objection;
}

/** Resolves a game. Manifests may come in any order; the answer does not depend on it. */
export function resolveGame(game: GameDefinition, manifest: (name: string) => ModuleManifest | undefined): Resolution {
  const wanted = new Map<string, boolean>();
  for (const { name, required } of game.spec.modules)
    wanted.set(name, (wanted.get(name) ?? false) || required !== false);
  const modules: ModuleManifest[] = [];
  const missingRequired: string[] = [];
  const missingOptional: string[] = [];
  for (const name of [...wanted.keys()].sort()) {
    const module = manifest(name);
    if (module) modules.push(module);
    else (wanted.get(name) ? missingRequired : missingOptional).push(name);
  }
  const providers = indexProviders(modules);
  const requirements = modules.flatMap((module) => resolveModule(module, providers));
  return { requirements, missingRequired, missingOptional };
}

type ProviderIndex = ReadonlyMap<string, readonly Candidate[]>;

/** Candidates of each capability, newest first, then by name: the order in which they are taken. */
function indexProviders(modules: readonly ModuleManifest[]): ProviderIndex {
  const index = new Map<string, Candidate[]>();
  for (const module of modules) {
    for (const provision of module.spec.provides) {
      const candidate = { moduleManifestName: module.metadata.name, provision };
      const known = index.get(provision.capabilityId);
      if (known) known.push(candidate);
      else index.set(provision.capabilityId, [candidate]);
    }
  }
  for (const candidates of index.values()) candidates.sort(byPreference);
  return index;
}

function byPreference(a: Candidate, b: Candidate): number {
  const [first, second] = [readVersion(a.provision.version), readVersion(b.provision.version)];
  if (first.ok !== second.ok) return first.ok ? -1 : 1;
  const newest = first.ok && second.ok ? compareSemVer(second.version, first.version) : 0;
  return (
    newest ||
    compareText(a.moduleManifestName, b.moduleManifestName) ||
    compareText(a.provision.scope, b.provision.scope)
  );
}

function resolveModule(module: ModuleManifest, providers: ProviderIndex): ResolvedRequirement[] {
  const consumer = module.metadata.name;
  const firstIndexOf = new Map<string, number>();
  return module.spec.requires.map((requirement, index) => {
    const key = requirementKey(requirement);
    const firstIndex = firstIndexOf.get(key);
    if (firstIndex === undefined) firstIndexOf.set(key, index);
    const candidates = judge(requirement, providers.get(requirement.capabilityId) ?? []);
    return { consumer, index, requirement, candidates, outcome: decide(requirement, candidates, firstIndex) };
  });
}

/** A module may require one capability in several scopes or multiplicities, but each of them once. */
export const requirementKey = ({
  capabilityId,
  scope,
  multiplicity,
}: Pick<Requirement, "capabilityId" | "scope" | "multiplicity">): string => `${capabilityId} ${scope} ${multiplicity}`;

function judge(requirement: Requirement, candidates: readonly Candidate[]): readonly JudgedCandidate[] {
  return candidates.map((candidate) => {
    const objection = objectionTo(requirement, candidate);
    return objection ? { ...candidate, objection } : candidate;
  });
}

function decide(
  requirement: Requirement,
  candidates: readonly JudgedCandidate[],
  firstIndex: number | undefined,
): Outcome {
  const constraint = readConstraint(requirement.versionConstraint);
  if (!constraint.ok) return { kind: "InvalidConstraint", column: constraint.column, message: constraint.message };
  if (firstIndex !== undefined) return { kind: "Duplicate", firstIndex };
  const compatible = candidates.filter(({ objection }) => objection === undefined);
  if (compatible.length === 0) return { kind: "Unresolved" };
  return {
    kind: "Bound",
    providers: requirement.multiplicity === "many" ? oncePerModule(compatible) : compatible.slice(0, 1),
  };
}

/** A module that offers a capability in several versions is bound once, by its best one. */
function oncePerModule(candidates: readonly Candidate[]): readonly Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ moduleManifestName }) => !seen.has(moduleManifestName) && seen.add(moduleManifestName));
}

/** The candidate with the fewest objections; candidates come best first, so the first of equals stays. */
export function nearestOf(
  requirement: Requirement,
  candidates: readonly Candidate[],
): { readonly candidate: Candidate; readonly objections: readonly Objection[] } | undefined {
  let nearest: { readonly candidate: Candidate; readonly objections: readonly Objection[] } | undefined;
  for (const candidate of candidates) {
    const objections = allObjectionsTo(requirement, candidate);
    if (!nearest || objections.length < nearest.objections.length) nearest = { candidate, objections };
  }
  return nearest;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
