import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "../../api/builtin/admission.ts";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { labels } from "../../api/well-known.ts";
import { apiVersionOf, type KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { cronPattern } from "./cron-pattern.ts";

/**
 * What is taken as it is, but worth a second look, said to whoever writes it: kubectl prints it as a warning. Nothing is
 * refused here, since what must not be is refused by the CustomResourceDefinitions themselves.
 */
export const admissionWarnings = (): readonly KubeObject[] => [
  ...warnings("capstan-plugin-warnings", Plugin, [
    {
      unless: "object.spec.source.type != 'url' || has(object.spec.source.checksum)",
      field: "spec.source.checksum",
      says: "'is not set, so whatever is found at spec.source.url is installed; set it to the SHA-256 of the jar'",
    },
    {
      unless:
        "object.spec.source.type != 'url' || !has(object.spec.source.url) || !isURL(object.spec.source.url) || url(object.spec.source.url).getEscapedPath().endsWith('.jar')",
      field: "spec.source.url",
      says: "'does not end in .jar; it should lead to the file itself, not to a page about it'",
    },
  ]),
  ...warnings(
    "capstan-server-warnings",
    PaperMCServer,
    [
      cron("spec.updateSchedule.checkCron"),
      cron("spec.updateSchedule.maintenanceWindow.cron", "object.spec.updateSchedule.maintenanceWindow.enabled"),
      cron(
        "spec.backup.schedule",
        "has(object.spec.backup) && object.spec.backup.enabled && has(object.spec.backup.schedule)",
      ),
    ],
    [{ name: "cron", expression: `r'${cronPattern}'` }],
  ),
];

interface Warning {
  /** CEL: what holds when there is nothing to say. */
  readonly unless: string;
  readonly field: string;
  /** CEL for the rest of the sentence that begins with the object and the field. */
  readonly says: string;
}

/** A schedule that cannot be read is a condition of the server, too; here it is seen where it is written. */
const cron = (field: string, counts = "true"): Warning => ({
  unless: `!(${counts}) || object.${field}.matches(variables.cron)`,
  field,
  says: `'"' + object.${field} + '" is not a cron expression: expected five fields (minute hour day month weekday) or @daily'`,
});

function warnings(
  name: string,
  kind: KindRef,
  all: readonly Warning[],
  variables: readonly { readonly name: string; readonly expression: string }[] = [],
): readonly KubeObject[] {
  const { group, version, plural } = kind;
  const rule = { apiGroups: [group], apiVersions: [version], resources: [plural], operations: ["CREATE", "UPDATE"] };
  return [
    object(ValidatingAdmissionPolicy, name, {
      // Advice that cannot be given must never be in the way.
      failurePolicy: "Ignore",
      matchConstraints: { resourceRules: [rule] },
      variables,
      validations: all.map(({ unless, field, says }) => ({
        expression: unless,
        messageExpression: `'${kind.kind} ' + object.metadata.name + ': ${field} ' + ${says}`,
      })),
    }),
    object(ValidatingAdmissionPolicyBinding, name, { policyName: name, validationActions: ["Warn"] }),
  ];
}

const object = (kind: KindRef, name: string, spec: object): KubeObject => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, labels: { [labels.managedBy]: "capstan", [labels.controller]: "admission-warnings" } },
  ...{ spec },
});
