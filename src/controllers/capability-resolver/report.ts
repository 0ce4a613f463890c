import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { GameDefinition } from "../../api/game-definition.ts";
import type { ModuleManifest } from "../../api/module-manifest.ts";
import type { WorldInstance } from "../../api/world-instance.ts";
import { type BindingPlan, nothingToWrite } from "./binding-plan.ts";
import { evaluate } from "./evaluate.ts";
import { remedyOf } from "./remedy.ts";
import { type JudgedCandidate, type ResolvedRequirement, resolveGame } from "./resolution.ts";
import type { Candidate } from "./rules.ts";
import { unresolvedReason } from "./verdict.ts";

/** What the resolver would say of a world, for people: each requirement with every candidate and why it was refused. */
export interface WorldReport {
  readonly namespace: string;
  readonly world: string;
  readonly game: string;
  readonly phase: string;
  readonly message: string;
  readonly requirements: readonly RequirementReport[];
}

export interface RequirementReport {
  readonly consumer: string;
  readonly capabilityId: string;
  readonly versionConstraint: string;
  readonly scope: string;
  readonly multiplicity: string;
  readonly dependencyMode: string;
  readonly outcome: "Bound" | "Unresolved" | "InvalidConstraint" | "Duplicate";
  readonly providers: readonly ProviderReport[];
  readonly reason?: string;
  readonly remedy?: string;
  readonly refused: readonly (ProviderReport & { readonly rule: string; readonly objection: string })[];
}

export interface ProviderReport {
  readonly module: string;
  readonly version: string;
}

/** Manifests by namespace and name. */
export interface Catalogue {
  game(namespace: string, name: string): GameDefinition | undefined;
  manifest(namespace: string, name: string): ModuleManifest | undefined;
}

export interface ReportedWorld {
  readonly report: WorldReport;
  /** What would be written, given the bindings that exist. */
  readonly plan: BindingPlan;
}

export function reportWorld(
  world: WorldInstance,
  catalogue: Catalogue,
  bindings: readonly CapabilityBinding[] = [],
  inNamespace: readonly CapabilityBinding[] = bindings,
): ReportedWorld {
  const namespace = world.metadata.namespace ?? "";
  const definition = catalogue.game(namespace, world.spec.gameRef.name);
  const resolution = definition && resolveGame(definition, (name) => catalogue.manifest(namespace, name));
  const elsewhere = new Set(
    inNamespace.filter((binding) => !bindings.includes(binding)).map(({ metadata: { name } }) => name),
  );
  const decision = evaluate({
    world,
    bindings,
    isHeldElsewhere: (name) => elsewhere.has(name),
    ...(definition && resolution && { game: { definition, resolution } }),
  });
  const frozen = decision.kind === "Resolve" ? (decision.frozen?.bound ?? []) : [];
  const kept = new Map(frozen.map(({ resolved, providers }) => [resolved, providers]));
  const report: WorldReport = {
    namespace,
    world: world.metadata.name,
    game: world.spec.gameRef.name,
    phase: decision.kind === "Stopped" ? "Stopped" : decision.verdict.phase,
    message: decision.kind === "Stopped" ? "Stopped: bindings are kept as they were" : decision.verdict.message,
    requirements: (resolution?.requirements ?? []).map((resolved) =>
      reportRequirement(resolved, kept.get(resolved) ?? boundTo(resolved)),
    ),
  };
  return {
    report,
    plan: decision.kind === "Stopped" ? { ...nothingToWrite, unchanged: bindings.length } : decision.plan,
  };
}

function reportRequirement(resolved: ResolvedRequirement, taken: readonly Candidate[]): RequirementReport {
  const { consumer, requirement, outcome, candidates } = resolved;
  const remedy = remedyOf(resolved);
  const reason = reasonOf(resolved);
  return {
    consumer,
    capabilityId: requirement.capabilityId,
    versionConstraint: requirement.versionConstraint,
    scope: requirement.scope,
    multiplicity: requirement.multiplicity,
    dependencyMode: requirement.dependencyMode,
    outcome: outcome.kind,
    providers: taken.map(reportProvider),
    ...(reason && { reason }),
    ...(remedy && { remedy }),
    refused: candidates
      .filter((candidate) => !taken.includes(candidate))
      .map((candidate) => ({ ...reportProvider(candidate), ...whyNot(candidate, resolved, taken) })),
  };
}

const boundTo = ({ outcome }: ResolvedRequirement): readonly Candidate[] =>
  outcome.kind === "Bound" ? outcome.providers : [];

/** A candidate that fits and was not taken either waits for a thaw, or something better was taken. */
function whyNot(
  candidate: JudgedCandidate,
  resolved: ResolvedRequirement,
  taken: readonly Candidate[],
): { readonly rule: string; readonly objection: string } {
  const { objection, moduleManifestName, provision } = candidate;
  if (objection) return { rule: objection.rule, objection: objection.sentence };
  if (boundTo(resolved).includes(candidate))
    return { rule: "frozen", objection: "fits and would be taken if the world were not frozen" };
  const better = taken.find((each) => each.moduleManifestName === moduleManifestName) ?? taken[0];
  if (!better) return { rule: "preference", objection: "fits, but the requirement itself is in error" };
  const isTie = better.provision.version === provision.version;
  return {
    rule: "preference",
    objection: `fits, but ${better.moduleManifestName} ${isTie ? "comes first by name" : `has version ${better.provision.version}`}`,
  };
}

const reportProvider = ({ moduleManifestName, provision }: Candidate): ProviderReport => ({
  module: moduleManifestName,
  version: provision.version,
});

function reasonOf(resolved: ResolvedRequirement): string | undefined {
  const { outcome, index } = resolved;
  switch (outcome.kind) {
    case "Bound":
      return undefined;
    case "Unresolved":
      return unresolvedReason(resolved);
    case "InvalidConstraint":
      return `spec.requires[${index}].versionConstraint, column ${outcome.column}: ${outcome.message}`;
    case "Duplicate":
      return `spec.requires[${outcome.firstIndex}] and spec.requires[${index}] are the same requirement`;
  }
}
