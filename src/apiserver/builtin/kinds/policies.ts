import type { TableColumn } from "../../resource.ts";
import type { Behaviour } from "../behaviour.ts";
import { ageColumn, column, createdAtColumn, nameColumn, wide } from "../columns.ts";
import { child, type Draft, descend, fill, fillEmpty, items, numeral, text } from "../draft.ts";
import { pathSegmentName } from "../names.ts";
import { validatePolicy, validatePolicyBinding, validateWebhooks } from "../validation/admission.ts";
import { validateDefinition, validateDefinitionUpdate } from "../validation/definitions.ts";
import {
  validateBindingUpdate,
  validateBudget,
  validateClusterRole,
  validateClusterRoleBinding,
  validateLease,
  validatePriorityClass,
  validatePriorityClassUpdate,
  validateRole,
  validateRoleBinding,
  validateStorageClass,
  validateStorageClassUpdate,
} from "../validation/policies.ts";
import { validateBudgetStatus } from "../validation/status.ts";
import { storageClassWarnings } from "../warnings.ts";

/** Lease, RBAC, PodDisruptionBudget, PriorityClass, StorageClass and admission. */

export const lease: Behaviour = {
  validate: validateLease,
  allowCreateOnUpdate: true,
  refusesUnconditionalUpdate: true,
  columns: [nameColumn, column("Holder", (object) => text(child(object, "spec"), "holderIdentity")), ageColumn],
};

export const role: Behaviour = {
  validate: validateRole,
  name: pathSegmentName,
  allowCreateOnUpdate: true,
  columns: [nameColumn, createdAtColumn],
};

export const clusterRole: Behaviour = { ...role, validate: validateClusterRole };

export const roleBinding: Behaviour = {
  validate: validateRoleBinding,
  validateUpdate: validateBindingUpdate,
  name: pathSegmentName,
  allowCreateOnUpdate: true,
  fill(draft) {
    const reference = child(draft, "roleRef");
    if (reference) fillEmpty(reference, "apiGroup", "rbac.authorization.k8s.io");
  },
  columns: [
    nameColumn,
    column("Role", (object) => `${text(child(object, "roleRef"), "kind")}/${text(child(object, "roleRef"), "name")}`),
    ageColumn,
    wide("Users", (object) => subjects(object, "User")),
    wide("Groups", (object) => subjects(object, "Group")),
    wide("ServiceAccounts", (object) => subjects(object, "ServiceAccount")),
  ],
};

export const clusterRoleBinding: Behaviour = { ...roleBinding, validate: validateClusterRoleBinding };

const subjects = (object: Draft, kind: string): string =>
  items(object, "subjects")
    .filter((subject) => text(subject, "kind") === kind)
    .map((subject) =>
      kind === "ServiceAccount" ? `${text(subject, "namespace")}/${text(subject, "name")}` : text(subject, "name"),
    )
    .join(", ");

const intOrStringText = (value: unknown): string => (value === undefined || value === null ? "N/A" : String(value));

export const podDisruptionBudget: Behaviour = {
  validate: validateBudget,
  validateStatus: validateBudgetStatus,
  generationPaths: ["spec"],
  refusesUnconditionalUpdate: true,
  columns: [
    nameColumn,
    column("Min Available", (object) => intOrStringText(child(object, "spec")?.["minAvailable"])),
    column("Max Unavailable", (object) => intOrStringText(child(object, "spec")?.["maxUnavailable"])),
    column("Allowed Disruptions", (object) => numeral(child(object, "status"), "disruptionsAllowed") ?? 0, {
      type: "integer",
    }),
    ageColumn,
  ],
};

export const priorityClass: Behaviour = {
  validate: validatePriorityClass,
  validateUpdate: validatePriorityClassUpdate,
  generationPaths: [],
  fill(draft) {
    fill(draft, "preemptionPolicy", "PreemptLowerPriority");
  },
  columns: [
    nameColumn,
    column("Value", (object) => numeral(object, "value") ?? 0, { type: "integer" }),
    column("Global-Default", (object) => object["globalDefault"] === true, { type: "boolean" }),
    ageColumn,
    column("PreemptionPolicy", (object) => text(object, "preemptionPolicy")),
  ],
};

export const storageClass: Behaviour = {
  validate: validateStorageClass,
  warnings: storageClassWarnings,
  validateUpdate: validateStorageClassUpdate,
  fill(draft) {
    fill(draft, "reclaimPolicy", "Delete");
    fill(draft, "volumeBindingMode", "Immediate");
  },
  columns: [
    column(
      "Name",
      (object) => `${text(child(object, "metadata"), "name")}${isDefaultClass(object) ? " (default)" : ""}`,
      { format: "name" },
    ),
    column("Provisioner", (object) => text(object, "provisioner")),
    column("ReclaimPolicy", (object) => text(object, "reclaimPolicy") || "Delete"),
    column("VolumeBindingMode", (object) => text(object, "volumeBindingMode") || "Immediate"),
    column("AllowVolumeExpansion", (object) => object["allowVolumeExpansion"] === true),
    ageColumn,
  ],
};

function isDefaultClass(object: Draft): boolean {
  const annotations = descend(object, "metadata", "annotations");
  return ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"].some(
    (key) => text(annotations, key) === "true",
  );
}

const countColumn = (name: string, list: (object: Draft) => readonly unknown[]): TableColumn =>
  column(name, (object) => list(object).length, { type: "integer" });

export const webhookConfiguration: Behaviour = {
  validate: validateWebhooks,
  generationPaths: ["webhooks"],
  refusesUnconditionalUpdate: true,
  columns: [nameColumn, countColumn("Webhooks", (object) => items(object, "webhooks")), ageColumn],
};

export const validatingAdmissionPolicy: Behaviour = {
  validate: validatePolicy,
  generationPaths: ["spec"],
  refusesUnconditionalUpdate: true,
  fill(draft) {
    const constraints = descend(draft, "spec", "matchConstraints");
    if (constraints) fill(constraints, "matchPolicy", "Equivalent");
  },
  columns: [
    nameColumn,
    countColumn("Validations", (object) => items(child(object, "spec"), "validations")),
    column("ParamKind", (object) => {
      const kind = descend(object, "spec", "paramKind");
      return kind ? `${text(kind, "apiVersion")}/${text(kind, "kind")}` : "<unset>";
    }),
    ageColumn,
  ],
};

export const validatingAdmissionPolicyBinding: Behaviour = {
  validate: validatePolicyBinding,
  generationPaths: ["spec"],
  refusesUnconditionalUpdate: true,
  columns: [
    nameColumn,
    column("PolicyName", (object) => text(child(object, "spec"), "policyName")),
    column("ParamRef", paramText),
    ageColumn,
  ],
};

function paramText(object: Draft): string {
  const reference = descend(object, "spec", "paramRef");
  const name = text(reference, "name");
  if (name !== "") return `${text(reference, "namespace") || "*"}/${name}`;
  const selector = child(reference, "selector");
  return selector ? goSelector(selector) : "<unset>";
}

/** This cell shows the selector as Go prints the struct. */
function goSelector(selector: Draft): string {
  const labels = Object.entries(child(selector, "matchLabels") ?? {}).sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  const expressions = items(selector, "matchExpressions").map((expression) => {
    const values = Array.isArray(expression["values"]) ? expression["values"].join(" ") : "";
    return `LabelSelectorRequirement{Key:${text(expression, "key")},Operator:${text(expression, "operator")},Values:[${values}],}`;
  });
  const map = labels.map(([key, value]) => `${key}: ${value},`).join("");
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${expressions.map((text) => `${text},`).join("")}},}`;
}

export const customResourceDefinition: Behaviour = {
  validate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
  takesAnyFinalizer: true,
  generationPaths: ["spec"],
  refusesUnconditionalUpdate: true,
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    const names = child(spec, "names") ?? {};
    const kind = text(names, "kind");
    if (kind !== "") {
      fillEmpty(names, "singular", kind.toLowerCase());
      fillEmpty(names, "listKind", `${kind}List`);
    }
    fill(spec, "conversion", { strategy: "None" });
    fillStoredVersions(draft);
  },
  prepareCreate(draft) {
    draft["status"] = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: null };
    fillStoredVersions(draft);
  },
  columns: [nameColumn, createdAtColumn],
};

/** The versions that may be in storage begin with the one that is written. */
function fillStoredVersions(draft: Draft): void {
  const status = child(draft, "status");
  const stored = status?.["storedVersions"];
  if (!status || (Array.isArray(stored) && stored.length > 0)) return;
  const storage = items(child(draft, "spec"), "versions").find((version) => version["storage"] === true);
  if (storage) status["storedVersions"] = [text(storage, "name")];
}
