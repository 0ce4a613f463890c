import type { EnforcementMode } from "../enforcement-mode.ts";

/** What the specification's decision knows. */
export interface DecisionInput {
  readonly mode: EnforcementMode;
  readonly previousTarget?: number;
  readonly newTarget: number;
  readonly lastChangeAt?: Date;
  readonly cooldownUntil?: Date;
  readonly now: Date;
  readonly stabilityMs: number;
  readonly cooldownMs: number;
  readonly minimum: number;
  readonly maximum: number;
}

export type EnforceDecision =
  | { readonly kind: "SkipMode" }
  /** `changed`: the target is new, so its time begins now. */
  | {
      readonly kind: "WaitStability";
      readonly target: number;
      readonly clamped: boolean;
      readonly changed: boolean;
      readonly waitMs: number;
    }
  | { readonly kind: "WaitCooldown"; readonly target: number; readonly clamped: boolean; readonly waitMs: number }
  | { readonly kind: "Apply"; readonly target: number; readonly clamped: boolean; readonly cooldownUntil: Date };

/** Mode, clamp, change, cooldown, stability: in this order, as spec/class-runtime-manager.md 9.a has it. */
export function decide(input: DecisionInput): EnforceDecision {
  const { mode, previousTarget, newTarget, lastChangeAt, cooldownUntil, now, stabilityMs, cooldownMs } = input;
  if (mode !== "enforce") return { kind: "SkipMode" };
  const target = Math.min(Math.max(newTarget, input.minimum), input.maximum);
  const clamped = target !== newTarget;
  const nowMs = now.getTime();
  if (previousTarget !== target || lastChangeAt === undefined) {
    return { kind: "WaitStability", target, clamped, changed: true, waitMs: stabilityMs };
  }
  if (cooldownUntil !== undefined && nowMs < cooldownUntil.getTime()) {
    return { kind: "WaitCooldown", target, clamped, waitMs: cooldownUntil.getTime() - nowMs };
  }
  const stableMs = nowMs - lastChangeAt.getTime();
  if (stableMs >= stabilityMs) {
    return { kind: "Apply", target, clamped, cooldownUntil: new Date(nowMs + cooldownMs) };
  }
  return { kind: "WaitStability", target, clamped, changed: false, waitMs: stabilityMs - stableMs };
}
