import { ConfigMap } from "../../api/builtin/configuration.ts";
import type { AuditTrail } from "../../audit/trail.ts";
import { type Controller, defineController } from "../../runtime/controller.ts";
import { resourceVersionChanged } from "../../runtime/predicates.ts";
import { executorActor } from "./audit-rows.ts";
import { switchConfigMap, systemNamespace } from "./names.ts";

/** Written by admission when the switch is thrown: by whom, when, and to what. */
export const switchAnnotations = {
  by: "capstan.dev/frozen-by",
  at: "capstan.dev/frozen-at",
  value: "capstan.dev/frozen-value",
} as const;

/** Everything else freezes: whoever wants to stop it all should not fail for want of the right word. */
export const switchesOff: readonly string[] = ["", "false", "False", "FALSE", "no", "off", "0"];

export const isFrozen = (switches: ConfigMap | undefined): boolean =>
  !switchesOff.includes(switches?.data?.["frozen"] ?? "");

/** Whoever stops everything, or lets it go on, stands in the audit trail: one row each time. */
export const freezeSwitch = (audit: AuditTrail): Controller =>
  defineController({
    name: "freeze-switch",
    reconciles: ConfigMap,
    scope: { namespace: systemNamespace },
    predicates: [resourceVersionChanged],
    observe: (switches, { now }) => ({ switches, now }),
    evaluate: (observation) => observation,
    async act({ switches, now }, { log }) {
      const { name, namespace, uid, resourceVersion, annotations = {} } = switches.metadata;
      if (name !== switchConfigMap) return;
      const frozen = isFrozen(switches);
      const { [switchAnnotations.by]: by, [switchAnnotations.at]: at, [switchAnnotations.value]: value } = annotations;
      const stamped = by !== undefined && at !== undefined && value === String(frozen);
      // A switch that nobody has touched yet is off, and there is nothing to tell.
      if (!stamped && !frozen && value === undefined) return;
      const result = frozen ? "Frozen" : "Released";
      const added = await audit.append([
        {
          id: `${uid}/switch/${stamped ? at : resourceVersion}/${result}`,
          time: now,
          // While we were away nobody could be named: the switch must work without us.
          actor: stamped ? by : executorActor,
          verb: frozen ? "freeze" : "unfreeze",
          object: { kind: "ConfigMap", name, ...(namespace && { namespace }), ...(uid && { uid }) },
          result,
        },
      ]);
      if (added > 0) log.warn(frozen ? "all actions are frozen" : "actions run again", { by: by ?? "unknown" });
    },
    reduce: () => ({}),
  });
