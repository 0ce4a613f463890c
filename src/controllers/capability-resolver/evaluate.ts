import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { GameDefinition } from "../../api/game-definition.ts";
import type { WorldInstance } from "../../api/world-instance.ts";
import { type DesiredBinding, desiredBindings, managedByLabel, managedByValue } from "./desired-bindings.ts";
import { choose, isFrozen } from "./freeze.ts";
import type { Resolution } from "./resolution.ts";
import { gameNotFound, type Verdict, verdictOf } from "./verdict.ts";

/** What is known of one world when it is reconciled. */
export interface Observation {
  readonly world: WorldInstance;
  /** Absent when the game that the world names does not exist. */
  readonly game?: { readonly definition: GameDefinition; readonly resolution: Resolution };
  /** Every binding in the namespace that says it belongs to this world, whoever made it. */
  readonly bindings: readonly CapabilityBinding[];
}

export type Decision =
  /** A stopped world keeps its bindings as they are. */
  | { readonly kind: "Stopped" }
  | {
      readonly kind: "Resolve";
      readonly plan: BindingPlan;
      readonly verdict: Verdict;
      /** Absent without a game. */
      readonly resolution?: Resolution;
      /** Only for a frozen world: what it would take otherwise. */
      readonly frozen?: readonly string[];
    };

export interface BindingPlan {
  readonly apply: readonly DesiredBinding[];
  readonly remove: readonly CapabilityBinding[];
  /** Bindings that are wanted and already as they should be. */
  readonly unchanged: number;
  /** Names that we want but that an object which is not ours has. */
  readonly taken: readonly string[];
}

export function evaluate({ world, game, bindings }: Observation): Decision {
  if (world.spec.desiredState === "Stopped") return { kind: "Stopped" };
  const ours = bindings.filter((binding) => isOurs(binding, world));
  if (!game) {
    const plan = planChanges([], bindings, world);
    return { kind: "Resolve", plan, verdict: gameNotFound(world.spec.gameRef.name) };
  }
  const { bound, waiting } = choose(world, game.resolution, ours);
  const plan = planChanges(desiredBindings(world, game.definition.metadata.name, bound), bindings, world);
  const verdict = verdictOf(game.resolution);
  return { kind: "Resolve", plan, verdict, resolution: game.resolution, ...(isFrozen(world) && { frozen: waiting }) };
}

function planChanges(
  desired: readonly DesiredBinding[],
  bindings: readonly CapabilityBinding[],
  world: WorldInstance,
): BindingPlan {
  const byName = new Map(bindings.map((binding) => [binding.metadata.name, binding]));
  const wantedNames = new Set(desired.map(({ metadata }) => metadata.name));
  const apply: DesiredBinding[] = [];
  const taken: string[] = [];
  let unchanged = 0;
  for (const wanted of desired) {
    const existing = byName.get(wanted.metadata.name);
    if (existing && !isOurs(existing, world)) taken.push(wanted.metadata.name);
    else if (existing && isAsWanted(existing, wanted)) unchanged++;
    else apply.push(wanted);
  }
  const stale = ({ metadata }: CapabilityBinding): boolean =>
    !wantedNames.has(metadata.name) && !metadata.deletionTimestamp;
  const remove = bindings.filter(
    (binding) =>
      (isOurs(binding, world) && stale(binding)) || (isLeftover(binding, world) && !binding.metadata.deletionTimestamp),
  );
  return { apply, remove, unchanged, taken };
}

/** Ours is what we marked and this very world controls; a binding that a person made is left alone. */
function isOurs(binding: CapabilityBinding, world: WorldInstance): boolean {
  return isMarked(binding) && ownerUid(binding) === world.metadata.uid;
}

/** A deleted world of the same name left this behind; the garbage collector may not have come by yet. */
function isLeftover(binding: CapabilityBinding, world: WorldInstance): boolean {
  const owner = binding.metadata.ownerReferences?.find(({ controller }) => controller);
  return (
    isMarked(binding) &&
    owner?.kind === "WorldInstance" &&
    owner.name === world.metadata.name &&
    owner.uid !== world.metadata.uid
  );
}

const isMarked = ({ metadata }: CapabilityBinding): boolean => metadata.labels?.[managedByLabel] === managedByValue;

const ownerUid = ({ metadata }: CapabilityBinding): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller)?.uid;

/** Every field that we own has our value, and nothing stands in the spec that we would not write. */
function isAsWanted(existing: CapabilityBinding, wanted: DesiredBinding): boolean {
  const { labels } = existing.metadata;
  const hasLabels = Object.entries(wanted.metadata.labels ?? {}).every(([key, value]) => labels?.[key] === value);
  return hasLabels && covers(existing.spec, wanted.spec) && covers(wanted.spec, withoutEndpoint(existing.spec));
}

/** The provider's endpoint is the user's to set. */
function withoutEndpoint(spec: CapabilityBinding["spec"]): CapabilityBinding["spec"] {
  const { endpoint: _, ...provider } = spec.provider;
  return { ...spec, provider };
}

function covers(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) &&
      actual.length === wanted.length &&
      wanted.every((item, index) => covers(actual[index], item))
    );
  }
  if (typeof wanted === "object" && wanted !== null) {
    if (typeof actual !== "object" || actual === null) return false;
    return Object.entries(wanted).every(([key, value]) => covers((actual as Record<string, unknown>)[key], value));
  }
  return actual === wanted;
}
