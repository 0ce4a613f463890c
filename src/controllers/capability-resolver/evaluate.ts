import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { GameDefinition } from "../../api/game-definition.ts";
import type { WorldInstance } from "../../api/world-instance.ts";
import { type BindingPlan, isOurs, planBindings } from "./binding-plan.ts";
import { type Pairings, pairingsOf, pairingsOfResolution } from "./desired-bindings.ts";
import { isFrozen, type Kept, keepProviders } from "./freeze.ts";
import type { Resolution } from "./resolution.ts";
import { gameNotFound, type Verdict, verdictOf } from "./verdict.ts";

/** What is known of one world when it is reconciled. */
export interface Observation {
  readonly world: WorldInstance;
  /** Absent when the game that the world names does not exist. */
  readonly game?: { readonly definition: GameDefinition; readonly resolution: Resolution };
  /** Every binding in the namespace that says it belongs to this world, whoever made it. */
  readonly bindings: readonly CapabilityBinding[];
  /** Names in the namespace that a binding of another world, or of none, has. */
  readonly isHeldElsewhere?: (name: string) => boolean;
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
      /** Only for a frozen world: what it keeps, and what it would take otherwise. */
      readonly frozen?: Kept;
    };

export function evaluate({ world, game, bindings, isHeldElsewhere }: Observation): Decision {
  if (world.spec.desiredState === "Stopped") return { kind: "Stopped" };
  if (!game) {
    const plan = planBindings(world, "", nothing, bindings);
    return { kind: "Resolve", plan, verdict: gameNotFound(world.spec.gameRef.name) };
  }
  const { definition, resolution } = game;
  const verdict = verdictOf(resolution);
  const name = definition.metadata.name;
  if (!isFrozen(world)) {
    return {
      kind: "Resolve",
      plan: planBindings(world, name, pairingsOfResolution(resolution), bindings, isHeldElsewhere),
      verdict,
      resolution,
    };
  }
  const ours = bindings.filter((binding) => isOurs(binding, world));
  const frozen = keepProviders(resolution, ours);
  return {
    kind: "Resolve",
    plan: planBindings(world, name, pairingsOf(frozen.bound), bindings, isHeldElsewhere),
    verdict,
    resolution,
    frozen,
  };
}

const nothing: Pairings = { all: new Set(), ambiguous: new Set() };
