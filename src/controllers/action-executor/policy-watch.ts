import { ConfigMap } from "../../api/builtin/configuration.ts";
import type { AuditTrail } from "../../audit/trail.ts";
import type { Env } from "../../env/env.ts";
import { RegoErrors } from "../../rego/syntax/errors.ts";
import { type Controller, defineController } from "../../runtime/controller.ts";
import { resourceVersionChanged } from "../../runtime/predicates.ts";
import { executorActor } from "./audit-rows.ts";
import { policyConfigMap, systemNamespace } from "./names.ts";
import { compilePolicies } from "./policy/policy-set.ts";

/** Says at once what became of policies that were written, to whoever wrote them and to the trail; the executor reads them itself. */
export const policyWatch = (env: Env, audit: AuditTrail): Controller =>
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
      const read = tryPolicies(policies.data ?? {}, env);
      const added = await audit.append([
        {
          id: `${uid}/policies/${resourceVersion}`,
          time: now,
          actor: executorActor,
          verb: "load-policies",
          object: { kind: "ConfigMap", name, ...(namespace && { namespace }), ...(uid && { uid }) },
          result: read.kind,
          details: read.kind === "Loaded" ? { policyHash: read.hash, policies: read.name } : { problem: read.problem },
        },
      ]);
      // Told once for each version, and not again with every start.
      if (added === 0) return;
      if (read.kind === "Loaded") {
        events.record(policies, { type: "Normal", reason: "PoliciesLoaded", message: `In force: ${read.name}` });
        return;
      }
      const message = `The last good policies stay in force: ${read.problem}`;
      events.record(policies, { type: "Warning", reason: "PoliciesRefused", message });
      log.error("the safety policies cannot be read; the last good ones stay in force", { problem: read.problem });
    },
    reduce: () => ({}),
  });

type Tried =
  | { readonly kind: "Loaded"; readonly hash: string; readonly name: string }
  | { readonly kind: "Refused"; readonly problem: string };

function tryPolicies(files: Readonly<Record<string, string>>, env: Env): Tried {
  try {
    const { hash, name } = compilePolicies(files, env);
    return { kind: "Loaded", hash, name };
  } catch (error) {
    if (error instanceof RegoErrors) return { kind: "Refused", problem: error.message };
    throw error;
  }
}
