import type { WorldInstance } from "../../api/world-instance.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Decision } from "./evaluate.ts";
import { requirementKey } from "./resolution.ts";

/** One line for each binding that is about to change, with the fields that the specification names. */
export function logSelections(
  { metadata, spec }: WorldInstance,
  decision: Extract<Decision, { kind: "Resolve" }>,
  log: Logger,
): void {
  if (decision.plan.apply.length === 0) return;
  const counts = new Map(
    decision.resolution?.requirements.map(({ consumer, requirement, candidates }) => [
      `${consumer} ${requirementKey(requirement)}`,
      candidates.length,
    ]),
  );
  const common = { world: metadata.name, namespace: metadata.namespace, game: spec.gameRef.name };
  for (const { spec: binding } of decision.plan.apply) {
    const { capabilityId, scope, multiplicity, consumer, provider } = binding;
    log.info("provider chosen", {
      ...common,
      consumerModule: consumer.moduleManifestName,
      capabilityId,
      scope,
      multiplicity,
      candidateCount: counts.get(`${consumer.moduleManifestName} ${requirementKey(binding)}`) ?? 0,
      chosenProvider: provider.moduleManifestName,
      chosenVersion: provider.capabilityVersion,
    });
  }
}
