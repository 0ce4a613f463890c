import type { CapabilityBinding } from "../../api/capability-binding.ts";
import { labels } from "../../api/well-known.ts";
import type { WorldInstance } from "../../api/world-instance.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { bindingName, distinctBindingName } from "./binding-name.ts";
import {
  type DesiredBinding,
  desiredBinding,
  identityOf,
  managedByValue,
  type Pairing,
  type Pairings,
} from "./desired-bindings.ts";

/** What has to be written so that a world has exactly the bindings that it should have. */
export interface BindingPlan {
  /** Sorted by name. */
  readonly apply: readonly DesiredBinding[];
  /** Names among them of bindings that exist and are ours. */
  readonly putBack: ReadonlySet<string>;
  /** By name, what a deleted world of this name still holds of what is to be applied; it has to go first. */
  readonly leftovers: ReadonlyMap<string, CapabilityBinding>;
  readonly remove: readonly CapabilityBinding[];
  /** Bindings that are wanted and already as they should be. */
  readonly unchanged: number;
  /** Names that we want but that an object which is not ours has. */
  readonly taken: readonly string[];
}

export function planBindings(
  world: WorldInstance,
  game: string,
  wanted: Pairings,
  existing: readonly CapabilityBinding[],
  isHeldElsewhere: (name: string) => boolean = () => false,
): BindingPlan {
  const { settled, others } = recallSettled(world, game, wanted, existing);
  if (settled.size === wanted.all.size && others.length === 0) return { ...nothingToWrite, unchanged: settled.size };
  const byName = new Map(others.map((binding) => [binding.metadata.name, binding]));
  const wantedNames = new Set<string>();
  const apply: DesiredBinding[] = [];
  const putBack = new Set<string>();
  const taken: string[] = [];
  const leftovers = new Map<string, CapabilityBinding>();
  let unchanged = settled.size;
  for (const pairing of wanted.all) {
    if (settled.has(pairing)) continue;
    const name = nameOf(world, pairing, wanted, byName, isHeldElsewhere);
    const binding = desiredBinding(world, game, pairing, name);
    wantedNames.add(binding.metadata.name);
    const found = byName.get(binding.metadata.name);
    if (found && isMarked(found) && isLeftover(found, world)) {
      leftovers.set(name, found);
      apply.push(binding);
    } else if (found && !isOurs(found, world)) taken.push(binding.metadata.name);
    else if (found && isAsWanted(found, binding, world)) {
      unchanged++;
      rememberSettled(found, { pairing, worldUid: world.metadata.uid, game });
    } else {
      apply.push(binding);
      if (found) putBack.add(binding.metadata.name);
    }
  }
  const remove = others.filter(
    (binding) =>
      !binding.metadata.deletionTimestamp &&
      isMarked(binding) &&
      !leftovers.has(binding.metadata.name) &&
      ((isOurs(binding, world) && !wantedNames.has(binding.metadata.name)) || isLeftover(binding, world)),
  );
  apply.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return { apply, putBack, leftovers, remove, unchanged, taken: taken.sort() };
}

export const nothingToWrite: BindingPlan = {
  apply: [],
  putBack: new Set(),
  leftovers: new Map(),
  remove: [],
  unchanged: 0,
  taken: [],
};

/**
 * The plain name, unless something else has it: another requirement of this world, or a binding that is not this world's
 * (worlds `a` and `a-b` with consumers `b-c` and `c` meet). A name once told apart stays, so that bindings do not move.
 */
function nameOf(
  world: WorldInstance,
  pairing: Pairing,
  { ambiguous }: Pairings,
  ofWorld: ReadonlyMap<string, CapabilityBinding>,
  isHeldElsewhere: (name: string) => boolean,
): string {
  const identity = identityOf(world.metadata.name, pairing);
  const plain = bindingName(identity);
  const isContested = ambiguous.has(pairing) || isHeldElsewhere(plain);
  if (!isContested && (ofWorld.size === 0 || ofWorld.has(plain))) return plain;
  const distinct = distinctBindingName(identity);
  return isContested || ofWorld.has(distinct) ? distinct : plain;
}

interface Settled {
  readonly pairing: Pairing;
  readonly worldUid: string | undefined;
  readonly game: string;
}

/**
 * Bindings that were compared before and found as wanted. An object of the cache never changes, so as long as the pairing
 * is wanted there is nothing to compare again; a change of one manifest then costs only what it changes.
 */
const settledAs = new WeakMap<CapabilityBinding, Settled>();
const rememberSettled = (binding: CapabilityBinding, settled: Settled): unknown => settledAs.set(binding, settled);

function recallSettled(
  world: WorldInstance,
  game: string,
  wanted: Pairings,
  existing: readonly CapabilityBinding[],
): { readonly settled: ReadonlySet<Pairing>; readonly others: readonly CapabilityBinding[] } {
  // Ambiguous names depend on the whole set, so nothing is recalled while there are any.
  if (wanted.ambiguous.size > 0) return { settled: new Set(), others: existing };
  const settled = new Set<Pairing>();
  const others: CapabilityBinding[] = [];
  for (const binding of existing) {
    const known = settledAs.get(binding);
    const isSettled =
      known && known.worldUid === world.metadata.uid && known.game === game && wanted.all.has(known.pairing);
    if (isSettled) settled.add(known.pairing);
    else others.push(binding);
  }
  return { settled, others };
}

/**
 * Ours is what this very world controls, also when somebody has taken our mark off it, and what carries our mark and is
 * nobody else's. A binding that a person made is left alone.
 */
export function isOurs(binding: CapabilityBinding, world: WorldInstance): boolean {
  const controller = controllerOf(binding);
  return controller ? controller.uid === world.metadata.uid : isMarked(binding);
}

/** A deleted world of the same name left this behind; the garbage collector may not have come by yet. */
function isLeftover(binding: CapabilityBinding, world: WorldInstance): boolean {
  const owner = controllerOf(binding);
  return owner?.kind === "WorldInstance" && owner.name === world.metadata.name && owner.uid !== world.metadata.uid;
}

const isMarked = ({ metadata }: CapabilityBinding): boolean =>
  metadata.labels?.[labels.bindingManagedBy] === managedByValue;

/** Every field that we own has our value, and nothing stands in the spec that we would not write. */
function isAsWanted(existing: CapabilityBinding, wanted: DesiredBinding, world: WorldInstance): boolean {
  if (controllerOf(existing)?.uid !== world.metadata.uid) return false;
  const present = existing.metadata.labels;
  const hasLabels = Object.entries(wanted.metadata.labels ?? {}).every(([key, value]) => present?.[key] === value);
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
