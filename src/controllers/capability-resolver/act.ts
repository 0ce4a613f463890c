import { CapabilityBinding } from "../../api/capability-binding.ts";
import type { Write } from "../../runtime/write.ts";
import type { BindingPlan } from "./binding-plan.ts";

export interface Outcome {
  readonly applied: number;
  readonly removed: number;
  /** What the API refused, one sentence each, sorted; the rest was still done. */
  readonly refused: readonly string[];
}

/**
 * Writes the plan. New bindings come first, so that a consumer is never without one for longer than it must be. A field of
 * ours that somebody else has set is put back by force; an object that we did not know of is never taken by it.
 */
export async function act(plan: BindingPlan, write: Write): Promise<Outcome> {
  const refused: string[] = [];
  let applied = 0;
  let removed = 0;
  for (const binding of plan.apply) {
    const leftover = plan.leftovers.get(binding.metadata.name);
    if (leftover !== undefined) {
      const gone = await write.delete(CapabilityBinding, leftover);
      if (!gone.ok || !gone.gone) {
        const why = gone.ok ? "a deleted world of this name had it, and it is still being removed" : gone.message;
        refused.push(`${binding.metadata.name}: ${why}`);
        continue;
      }
      removed++;
    }
    const force = plan.putBack.has(binding.metadata.name);
    const answer = await write.apply(CapabilityBinding, binding, { force });
    if (answer.ok) applied++;
    else refused.push(`${binding.metadata.name}: ${answer.message}`);
  }
  for (const binding of plan.remove) {
    const answer = await write.delete(CapabilityBinding, binding);
    if (answer.ok) removed++;
    else refused.push(`${binding.metadata.name}: ${answer.message}`);
  }
  return { applied, removed, refused: refused.sort() };
}
