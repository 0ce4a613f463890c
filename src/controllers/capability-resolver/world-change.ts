import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { ReportedWorld } from "./report.ts";

/** What a change of manifests would do to one world. */
export interface WorldChange {
  readonly namespace: string;
  readonly world: string;
  /** Absent when there is no such world yet. */
  readonly phaseBefore?: string;
  readonly phase: string;
  readonly message: string;
  /** Bindings that would be written; one that exists says what it is bound to now. */
  readonly apply: readonly BindingChange[];
  readonly remove: readonly string[];
}

export interface BindingChange {
  readonly name: string;
  readonly provider: string;
  readonly version: string;
  readonly providerBefore?: string;
  readonly versionBefore?: string;
}

/** Nothing when the world would keep its bindings and be in the same state as before. */
export function changeOf(
  before: ReportedWorld | undefined,
  { report, plan }: ReportedWorld,
  bindings: readonly CapabilityBinding[],
): WorldChange | undefined {
  const isSame = before?.report.phase === report.phase && before.report.message === report.message;
  if (isSame && plan.apply.length + plan.remove.length === 0) return undefined;
  const existing = new Map(bindings.map((binding) => [binding.metadata.name, binding.spec.provider]));
  return {
    namespace: report.namespace,
    world: report.world,
    ...(before && { phaseBefore: before.report.phase }),
    phase: report.phase,
    message: report.message,
    apply: plan.apply.map(({ metadata, spec }) => {
      const old = existing.get(metadata.name);
      return {
        name: metadata.name,
        provider: spec.provider.moduleManifestName,
        version: spec.provider.capabilityVersion ?? "",
        ...(old && { providerBefore: old.moduleManifestName, versionBefore: old.capabilityVersion ?? "" }),
      };
    }),
    remove: plan.remove.map(({ metadata }) => metadata.name).sort(),
  };
}
