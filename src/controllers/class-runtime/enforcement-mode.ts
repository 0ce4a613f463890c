import type { ClassRuntime, NfrDimension } from "../../api/class-runtime.ts";

export type EnforcementMode = "off" | "observe" | "enforce";

/** Any case of letters; whatever is not known only observes. */
export function enforcementMode({ spec }: ClassRuntime): EnforcementMode {
  const mode = spec.enforcement?.mode?.toLowerCase();
  return mode === "off" || mode === "enforce" ? mode : "observe";
}

export const isEnforced = (classRuntime: ClassRuntime, dimension: NfrDimension): boolean =>
  enforcementMode(classRuntime) === "enforce" &&
  (classRuntime.spec.enforcement?.dimensions?.some((wanted) => wanted.toLowerCase() === dimension) ?? false);
