import type { PackedProblem } from "./pack.ts";

/** What goes to the solver's thread. Variables and sources are positions in what was packed. */
export type ThreadTask =
  | { readonly kind: "solve"; readonly id: number; readonly problem: PackedProblem; readonly timeLimitMs?: number }
  | {
      readonly kind: "open";
      readonly explainer: number;
      readonly problem: PackedProblem;
      readonly optimum: Int32Array<ArrayBuffer>;
    }
  | {
      readonly kind: "whyNot";
      readonly id: number;
      readonly explainer: number;
      readonly variable: number;
      readonly goal: number;
      readonly timeLimitMs?: number;
    }
  | { readonly kind: "close"; readonly explainer: number }
  /** The answer is not wanted any more; one comes all the same, to say that the work has ended. */
  | { readonly kind: "cancel"; readonly id: number };

export type ThreadReply = { readonly id: number } & (
  | { readonly kind: "Solved"; readonly values: Int32Array<ArrayBuffer>; readonly proven: boolean }
  | { readonly kind: "Impossible"; readonly conflict: Int32Array<ArrayBuffer> }
  /** For each obstacle its kind, its source or -1, its variable or -1, and its value. */
  | { readonly kind: "Forbidden"; readonly obstacles: Int32Array<ArrayBuffer> }
  | { readonly kind: "Possible" | "OutOfTime" | "Newest" | "Cancelled" }
  | { readonly kind: "Failed"; readonly message: string }
);

export const obstacleKinds = ["Source", "Wish", "Choice"] as const;
