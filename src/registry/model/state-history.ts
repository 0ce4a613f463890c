import type { ServiceState } from "./service.ts";

export const defaultMaxStates = 10;

/** Adds a state; when there are more than allowed, the oldest half goes (spec, "Circular Buffer"). */
export function appendState(
  states: readonly ServiceState[],
  state: ServiceState,
  maxStates: number,
): readonly ServiceState[] {
  const all = [...states, state];
  return all.length > maxStates ? all.slice(Math.ceil(maxStates / 2)) : all;
}
