/** What stands in the way of a newer value: the user's objects, and wishes and choices that were more important. */
export type Obstacle =
  | { readonly kind: "Source"; readonly source: string }
  | { readonly kind: "Wish"; readonly source: string; readonly variable: string }
  | { readonly kind: "Choice"; readonly variable: string; readonly value: number };

export type Explanation =
  /** All of these together forbid it; without any one of them it would be possible. */
  | { readonly kind: "Forbidden"; readonly obstacles: readonly Obstacle[] }
  | { readonly kind: "Newest" }
  /** Nothing forbids it: the assignment is not the optimum, because its search was broken off. */
  | { readonly kind: "Possible" }
  | { readonly kind: "OutOfTime" };

/** Always in the same order. */
export const forbiddenBy = (obstacles: readonly Obstacle[]): Explanation => ({
  kind: "Forbidden",
  obstacles: [...obstacles].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1)),
});

function textOf(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case "Source":
      return `s ${obstacle.source}`;
    case "Wish":
      return `w ${obstacle.source} ${obstacle.variable}`;
    case "Choice":
      return `c ${obstacle.variable}`;
  }
}
