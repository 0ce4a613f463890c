import type { ClassRuntime } from "../../../api/class-runtime.ts";
import type { ClassRuntimeSettings } from "../settings.ts";
import type { Platform, Template } from "./template.ts";

export interface Selection {
  readonly template: Template;
  /** Why it is not the one that was asked for. */
  readonly warning?: string;
}

/** The template that was asked for by name or alias, if it can be used here; otherwise the one that fits best. */
export function selectTemplate(
  { spec }: ClassRuntime,
  settings: ClassRuntimeSettings,
  platform: Platform,
  templates: readonly Template[],
): Selection | undefined {
  const usable = templates.filter((template) => template.isServed(platform));
  const asked = spec.selected_template?.trim();
  const isAsked = ({ id, aliases }: Template): boolean =>
    asked !== undefined && (id === asked || aliases.includes(asked));
  const exact = usable.find(isAsked);
  if (exact !== undefined) return { template: exact };
  const best = bestFit(usable, spec, settings);
  if (best === undefined || !asked) return best && { template: best };
  const known = templates.some(isAsked);
  return {
    template: best,
    warning: known
      ? `template ${JSON.stringify(asked)} cannot be used here because its API is not served; ${best.id} is used instead`
      : `template ${JSON.stringify(asked)} is not known (${templates.map(({ id }) => id).join(", ")}); ${best.id} is used instead`,
  };
}

function bestFit(
  usable: readonly Template[],
  spec: ClassRuntime["spec"],
  { profile, isEdge, isDatacenter }: ClassRuntimeSettings,
): Template | undefined {
  const situation = { profile, isEdge, isDatacenter, requirements: spec.nfr_requirements ?? {} };
  let best: { readonly template: Template; readonly score: number } | undefined;
  for (const template of usable) {
    const score = template.score(situation);
    if (best === undefined || score > best.score) best = { template, score };
  }
  return best?.template;
}
