import type { WorldEvent, WorldPhase, WorldReason } from "../../api/world-instance.ts";
import { nearestOf, type Resolution, type ResolvedRequirement } from "./resolution.ts";

/** What is said of a world: its phase, one stable sentence, the reasons of its conditions, and the event if they changed. */
export interface Verdict {
  readonly phase: WorldPhase;
  readonly message: string;
  readonly modules: {
    readonly resolved: boolean;
    readonly reason: WorldReason<"ModulesResolved">;
    readonly message: string;
  };
  readonly bindings: {
    readonly resolved: boolean;
    readonly reason: WorldReason<"BindingsResolved">;
    readonly message: string;
  };
  readonly event: { readonly type: "Normal" | "Warning"; readonly reason: WorldEvent };
}

/** How many requirements a message names before it only counts the rest. */
export const maxNamedRequirements = 4;

export function gameNotFound(game: string): Verdict {
  const message = `GameDefinitionNotFound: ${game}`;
  return {
    phase: "Error",
    message,
    modules: { resolved: false, reason: "GameDefinitionNotFound", message },
    bindings: { resolved: false, reason: "GameDefinitionNotFound", message },
    event: { type: "Warning", reason: "GameDefinitionNotFound" },
  };
}

/** The first that applies decides: a missing module, an unreadable constraint, a requirement stated twice, an unmet one. */
export function verdictOf(resolution: Resolution): Verdict {
  const modules = modulesVerdict(resolution);
  const refused = (reason: WorldReason<"BindingsResolved">, message: string, event: WorldEvent): Verdict => ({
    phase: "Error",
    message,
    modules,
    bindings: { resolved: false, reason, message },
    event: { type: "Warning", reason: event },
  });

  if (!modules.resolved) return refused("ModuleManifestNotFound", modules.message, "ModuleManifestNotFound");

  const unreadable = resolution.requirements.flatMap(unreadableSentence);
  if (unreadable.length > 0) {
    return refused("InvalidSemverConstraint", few("InvalidSemverConstraint: ", unreadable), "InvalidSemverConstraint");
  }

  const duplicates = resolution.requirements.flatMap(duplicateSentence);
  if (duplicates.length > 0)
    return refused("DuplicateRequirement", few("DuplicateRequirement: ", duplicates), "DuplicateRequirement");

  const unresolved = resolution.requirements.filter(({ outcome }) => outcome.kind === "Unresolved");
  const required = unresolved
    .filter(({ requirement }) => requirement.dependencyMode === "required")
    .map(unresolvedSentence);
  if (required.length > 0) return refused("UnresolvedRequired", few("", required), "UnresolvedBindings");

  const optional = unresolved
    .filter(({ requirement }) => requirement.dependencyMode !== "required")
    .map(unresolvedSentence);
  const missing = resolution.missingOptional.map((name) => `optional module ${name} does not exist`);
  const notes = [...optional, ...missing];
  const message = `All required bindings resolved${notes.length > 0 ? ` (${notes.length} optional unresolved: ${few("", notes)})` : ""}`;
  return {
    phase: "Running",
    message,
    modules,
    bindings: { resolved: true, reason: "AllResolved", message },
    event: { type: "Normal", reason: "BindingsResolved" },
  };
}

/** A binding that the API does not take is as good as none. */
export function afterRefusals(verdict: Verdict, refused: readonly string[]): Verdict {
  if (refused.length === 0) return verdict;
  const refusals = few("BindingsRefused: ", refused);
  const message = verdict.bindings.resolved ? refusals : `${verdict.message}; ${refusals}`;
  return {
    ...verdict,
    phase: "Error",
    message,
    bindings: {
      resolved: false,
      reason: verdict.bindings.resolved ? "BindingsRefused" : verdict.bindings.reason,
      message,
    },
    event: verdict.bindings.resolved ? { type: "Warning", reason: "UnresolvedBindings" } : verdict.event,
  };
}

function modulesVerdict({ missingRequired, missingOptional }: Resolution): Verdict["modules"] {
  if (missingRequired.length > 0) {
    return {
      resolved: false,
      reason: "ModuleManifestNotFound",
      message: `ModuleManifestNotFound: ${missingRequired.join(", ")}`,
    };
  }
  const without = missingOptional.length > 0 ? `; optional and not found: ${missingOptional.join(", ")}` : "";
  return { resolved: true, reason: "ModulesLoaded", message: `Every required module of the game was found${without}` };
}

function duplicateSentence({ consumer, index, requirement, outcome }: ResolvedRequirement): string[] {
  if (outcome.kind !== "Duplicate") return [];
  const { capabilityId, scope, multiplicity } = requirement;
  return [
    `${consumer} spec.requires[${outcome.firstIndex}] and spec.requires[${index}] both require ${capabilityId} in scope ${scope} with multiplicity ${multiplicity}`,
  ];
}

function unreadableSentence({ consumer, index, requirement, outcome }: ResolvedRequirement): string[] {
  if (outcome.kind !== "InvalidConstraint") return [];
  const { capabilityId, versionConstraint } = requirement;
  return [
    `${consumer} spec.requires[${index}].versionConstraint ${JSON.stringify(versionConstraint)} for ${capabilityId}, column ${outcome.column}: ${outcome.message}`,
  ];
}

export function unresolvedSentence(resolved: ResolvedRequirement): string {
  return `${resolved.consumer} requires ${resolved.requirement.capabilityId} (${unresolvedReason(resolved)})`;
}

/** Why nothing fits: what the nearest candidate lacks, or that there is none. */
export function unresolvedReason({ requirement, candidates }: ResolvedRequirement): string {
  const nearest = nearestOf(requirement, candidates);
  if (!nearest) return `no module of the game provides ${requirement.capabilityId}`;
  const lacks = nearest.objections.map(({ sentence }) => sentence).join(" and ");
  const rest = candidates.length > 1 ? `, and ${candidates.length - 1} more refused` : "";
  return `no compatible provider found: ${nearest.candidate.moduleManifestName} ${lacks}${rest}`;
}

function few(prefix: string, sentences: readonly string[]): string {
  const named = sentences.slice(0, maxNamedRequirements).join("; ");
  const more = sentences.length - maxNamedRequirements;
  return `${prefix}${named}${more > 0 ? `; ...and ${more} more` : ""}`;
}
