import { ConfigMap } from "../../api/builtin/configuration.ts";
import type { AuditTrail } from "../../audit/trail.ts";
import { type Controller, defineController } from "../../runtime/controller.ts";
import { resourceVersionChanged } from "../../runtime/predicates.ts";
import { executorActor } from "./audit-rows.ts";
import { policyConfigMap, systemNamespace } from "./names.ts";
import type { PolicyKeeper } from "./policy/policy-keeper.ts";

/** Says at once what became of policies that were written, to whoever wrote them and to the trail; the executor reads them itself. */
export const policyWatch = (policyKeeper: PolicyKeeper, audit: AuditTrail): Controller =>
  defineController({
    name: "safety-policies",
    reconciles: ConfigMap,
    scope: { namespace: systemNamespace },
    predicates: [resourceVersionChanged],
    observe: (policies, { now }) => ({ policies, now }),
    evaluate: (observation) => observation,
    async act({ policies, now }, { events, log }) {
      const { name, namespace, uid, resourceVersion } = policies.metadata;
      if (name !== policyConfigMap) return;
      const { set, problem } = policyKeeper(policies);
      const added = await audit.append([
        {
          id: `${uid}/policies/${resourceVersion}`,
          time: now,
          actor: executorActor,
          verb: "load-policies",
          object: { kind: "ConfigMap", name, ...(namespace && { namespace }), ...(uid && { uid }) },
          result: problem === undefined ? "Loaded" : "Refused",
          details: {
            ...(set && { policyHash: set.hash, policies: set.name }),
            ...(problem !== undefined && { problem }),
          },
        },
      ]);
      // Told once for each version, and not again with every start.
      if (added === 0) return;
      if (problem === undefined) {
        events.record(policies, { type: "Normal", reason: "PoliciesLoaded", message: `In force: ${set?.name}` });
        return;
      }
      const stays = set ? "the last good ones stay in force" : "no action is allowed until they can be";
      events.record(policies, {
        type: "Warning",
        reason: "PoliciesRefused",
        message: `These policies cannot be read, and ${stays}: ${problem}`,
      });
      log.error(`the safety policies cannot be read; ${stays}`, { problem });
    },
    reduce: () => ({}),
  });
