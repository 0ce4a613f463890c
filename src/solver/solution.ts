import type { Assignment } from "./problem.ts";

export type Solution =
  | {
      readonly kind: "Solved";
      readonly assignment: Assignment;
      /** False when the time ran out before it was certain that nothing better exists. */
      readonly proven: boolean;
    }
  /** These sources together allow no answer at all; without any one of them there would be one, as far as they go. */
  | { readonly kind: "Impossible"; readonly conflict: readonly string[] }
  /** The time ran out before any answer was found. */
  | { readonly kind: "OutOfTime" };
