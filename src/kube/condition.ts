import { formatTime } from "./time.ts";

/** A condition of an object's status, in the standard shape. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

/** What a reducer states; the time is worked out. */
export type ConditionState = Omit<Condition, "lastTransitionTime">;

/**
 * The list with this condition in it. The transition time moves only when the status moves; when nothing at all changes,
 * the very same list comes back, so that a status that did not change is not written.
 */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  state: ConditionState,
  now: Date,
): readonly (C | Condition)[] {
  const list = conditions ?? [];
  const index = list.findIndex(({ type }) => type === state.type);
  const old = list[index];
  if (old === undefined) return [...list, { ...state, lastTransitionTime: formatTime(now) }];
  const lastTransitionTime = old.status === state.status ? old.lastTransitionTime : formatTime(now);
  const next: Condition = { ...state, lastTransitionTime };
  return isSame(old, next) ? list : list.with(index, next as C);
}

export function removeCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): readonly C[] {
  const list = conditions ?? [];
  return list.some((condition) => condition.type === type) ? list.filter((condition) => condition.type !== type) : list;
}

export const findCondition = <C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined => conditions?.find((condition) => condition.type === type);

export const isConditionTrue = (
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean => findCondition(conditions, type)?.status === "True";

const isSame = (left: Condition, right: Condition): boolean =>
  left.status === right.status &&
  left.reason === right.reason &&
  left.message === right.message &&
  left.observedGeneration === right.observedGeneration &&
  left.lastTransitionTime === right.lastTransitionTime;
