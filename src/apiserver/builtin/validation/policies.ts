import { deepEqual } from "../../../kube/equality.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { type LabelSelector, validateLabelSelector } from "../../../kube/label-selector.ts";
import { child, type Draft, entries, items, numeral, strings, text } from "../draft.ts";
import { immutableMessage } from "../object-meta.ts";
import {
  checkAtMostAll,
  checkNotNegative,
  checkNumberOrPercent,
  checkOneOf,
  checkQualifiedName,
  checkSubdomain,
  type Errors,
  invalidText,
  requiredText,
} from "./rules.ts";
import { selectorJson } from "./template.ts";

/** Lease, RBAC, PodDisruptionBudget, PriorityClass, StorageClass and HorizontalPodAutoscaler. */

export function validateLease(object: Draft): Errors {
  const spec = child(object, "spec");
  const duration = numeral(spec, "leaseDurationSeconds");
  const errors: FieldError[] = [];
  if (duration !== undefined && duration <= 0)
    errors.push(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  return [...errors, ...checkNotNegative(spec, "leaseTransitions", "spec")];
}

const rbacGroup = "rbac.authorization.k8s.io";

export const validateRole = (object: Draft): Errors => ruleErrors(object, true);

export function validateClusterRole(object: Draft): Errors {
  const aggregation = child(object, "aggregationRule");
  const selectors = items(aggregation, "clusterRoleSelectors");
  const errors: FieldError[] = [...ruleErrors(object, false)];
  if (aggregation && selectors.length === 0) {
    const detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
    errors.push(required("aggregationRule.clusterRoleSelectors", detail));
  }
  return [
    ...errors,
    ...selectors.flatMap((selector, index) =>
      validateLabelSelector(selector as LabelSelector, `aggregationRule.clusterRoleSelectors[${index}]`),
    ),
  ];
}

function ruleErrors(object: Draft, isNamespaced: boolean): Errors {
  return items(object, "rules").flatMap((rule, index) => {
    const path = `rules[${index}]`;
    const [groups, resources, urls] = [
      strings(rule, "apiGroups"),
      strings(rule, "resources"),
      strings(rule, "nonResourceURLs"),
    ];
    const errors: FieldError[] = [];
    if (strings(rule, "verbs").length === 0)
      errors.push(required(`${path}.verbs`, "verbs must contain at least one value"));
    if (urls.length > 0) {
      const isMixed = groups.length + resources.length + strings(rule, "resourceNames").length > 0;
      if (isNamespaced)
        errors.push(invalid(`${path}.nonResourceURLs`, urls, "namespaced rules cannot apply to non-resource URLs"));
      if (isMixed) {
        const detail = "rules cannot apply to both regular resources and non-resource URLs";
        errors.push(invalid(`${path}.nonResourceURLs`, urls, detail));
      }
      return errors;
    }
    if (groups.length === 0)
      errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
    if (resources.length === 0)
      errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
    return errors;
  });
}

export const validateRoleBinding = (object: Draft): Errors => bindingErrors(object, ["Role", "ClusterRole"], true);
export const validateClusterRoleBinding = (object: Draft): Errors => bindingErrors(object, ["ClusterRole"], false);

function bindingErrors(object: Draft, roleKinds: readonly string[], isNamespaced: boolean): Errors {
  const reference = child(object, "roleRef");
  const errors: FieldError[] = [];
  if (text(reference, "apiGroup") !== rbacGroup)
    errors.push(notSupported("roleRef.apiGroup", text(reference, "apiGroup"), [rbacGroup]));
  if (!roleKinds.includes(text(reference, "kind")))
    errors.push(notSupported("roleRef.kind", text(reference, "kind"), roleKinds));
  const name = text(reference, "name");
  if (name === "") errors.push(required("roleRef.name"));
  else if (/[/%]/.test(name))
    errors.push(invalid("roleRef.name", name, `may not contain '${name.includes("/") ? "/" : "%"}'`));
  return [
    ...errors,
    ...items(object, "subjects").flatMap((subject, index) =>
      subjectErrors(subject, isNamespaced, `subjects[${index}]`),
    ),
  ];
}

function subjectErrors(subject: Draft, isNamespaced: boolean, path: string): Errors {
  const [kind, name, group] = [text(subject, "kind"), text(subject, "name"), text(subject, "apiGroup")];
  const errors: FieldError[] = name === "" ? [required(`${path}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") errors.push(...checkSubdomain(name, `${path}.name`));
      if (group !== "") errors.push(notSupported(`${path}.apiGroup`, group, [""]));
      if (!isNamespaced && text(subject, "namespace") === "") errors.push(required(`${path}.namespace`));
      return errors;
    case "User":
    case "Group":
      return group === rbacGroup ? errors : [...errors, notSupported(`${path}.apiGroup`, group, [rbacGroup])];
    default:
      return [...errors, notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

/** What a binding grants cannot change under those who hold it. */
export function validateBindingUpdate(object: Draft, old: Draft): Errors {
  const reference = child(object, "roleRef");
  if (deepEqual(reference, child(old, "roleRef"))) return [];
  const shown = { APIGroup: text(reference, "apiGroup"), Kind: text(reference, "kind"), Name: text(reference, "name") };
  return [invalidText("roleRef", JSON.stringify(shown), "cannot change roleRef")];
}

export function validateBudget(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const { minAvailable, maxUnavailable } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalidText("spec", goBudget(spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const field of ["minAvailable", "maxUnavailable"]) {
    errors.push(...checkNumberOrPercent(spec[field], `spec.${field}`), ...checkAtMostAll(spec[field], `spec.${field}`));
  }
  return [
    ...errors,
    ...validateLabelSelector(child(spec, "selector") as LabelSelector | undefined, "spec.selector"),
    ...checkOneOf(text(spec, "unhealthyPodEvictionPolicy"), "spec.unhealthyPodEvictionPolicy", [
      "AlwaysAllow",
      "IfHealthyBudget",
    ]),
  ];
}

function goBudget(spec: Draft): string {
  const part = (field: string): string => JSON.stringify(spec[field] ?? null);
  return `{"MinAvailable":${part("minAvailable")},"Selector":${selectorJson(child(spec, "selector"))},"MaxUnavailable":${part("maxUnavailable")},"UnhealthyPodEvictionPolicy":${part("unhealthyPodEvictionPolicy")}}`;
}

const highestUserPriority = 1_000_000_000;
const systemClasses = new Set(["system-node-critical", "system-cluster-critical"]);

export function validatePriorityClass(object: Draft): Errors {
  const name = text(child(object, "metadata"), "name");
  const errors: FieldError[] = [];
  if (name.startsWith("system-")) {
    if (!systemClasses.has(name)) {
      const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
      errors.push(forbidden("metadata.name", detail));
    }
  } else if ((numeral(object, "value") ?? 0) > highestUserPriority) {
    errors.push(forbidden("value", `maximum allowed value of a user defined priority is ${highestUserPriority}`));
  }
  return [
    ...errors,
    ...checkOneOf(text(object, "preemptionPolicy"), "preemptionPolicy", ["PreemptLowerPriority", "Never"]),
  ];
}

export function validatePriorityClassUpdate(object: Draft, old: Draft): Errors {
  const errors: FieldError[] = [];
  if (object["value"] !== old["value"]) errors.push(forbidden("value", "may not be changed in an update."));
  if (object["preemptionPolicy"] !== old["preemptionPolicy"]) {
    errors.push(invalid("preemptionPolicy", object["preemptionPolicy"], immutableMessage));
  }
  return errors;
}

export function validateStorageClass(object: Draft): Errors {
  const provisioner = text(object, "provisioner");
  const parameters = entries(object, "parameters");
  return [
    ...(provisioner === ""
      ? [required("provisioner")]
      : checkQualifiedName(provisioner.toLowerCase(), "provisioner").map((error) => ({
          ...error,
          value: provisioner,
        }))),
    ...parameters.flatMap(([key]) => (key === "" ? [invalid("parameters", key, "field can not be empty.")] : [])),
    ...checkOneOf(text(object, "reclaimPolicy"), "reclaimPolicy", ["Delete", "Retain"]),
    ...checkOneOf(text(object, "volumeBindingMode"), "volumeBindingMode", ["Immediate", "WaitForFirstConsumer"]),
  ];
}

export function validateStorageClassUpdate(object: Draft, old: Draft): Errors {
  return ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"].flatMap((field) =>
    deepEqual(object[field], old[field]) ? [] : [invalid(field, object[field] ?? null, immutableMessage)],
  );
}

const metricSources: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

export function validateAutoscaler(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const min = numeral(spec, "minReplicas");
  const max = numeral(spec, "maxReplicas") ?? 0;
  const metrics = items(spec, "metrics");
  const errors: FieldError[] = [];
  if (min !== undefined && min < 1) errors.push(invalid("spec.minReplicas", min, "must be greater than or equal to 1"));
  if (max < 1) errors.push(required("spec.maxReplicas", "must be set and greater than 0"));
  if (min !== undefined && max < min)
    errors.push(invalid("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`"));
  errors.push(...targetErrors(child(spec, "scaleTargetRef")));
  errors.push(...metrics.flatMap((metric, index) => metricErrors(metric, `spec.metrics[${index}]`)));
  const scalesToZero = min === 0 && !metrics.some((metric) => ["Object", "External"].includes(text(metric, "type")));
  if (scalesToZero) {
    errors.push(
      forbidden(
        "spec.metrics",
        "must specify at least one Object or External metric to support scaling to zero replicas",
      ),
    );
  }
  return errors;
}

function targetErrors(target: Draft | undefined): Errors {
  const path = "spec.scaleTargetRef";
  const apiVersion = text(target, "apiVersion");
  const errors: FieldError[] = [...requiredText(target, "kind", path), ...requiredText(target, "name", path)];
  if (!apiVersion.includes("/") && !(apiVersion === "v1" && text(target, "kind") === "ReplicationController")) {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, "apiVersion must specify API group"));
  }
  return errors;
}

function metricErrors(metric: Draft, path: string): Errors {
  const type = text(metric, "type");
  const source = metricSources[type];
  if (type === "") return [required(`${path}.type`, "must specify a metric source type")];
  if (source === undefined) return [notSupported(`${path}.type`, type, Object.keys(metricSources))];
  const body = child(metric, source);
  if (!body) return [required(`${path}.${source}`, "must populate information for the given metric source")];
  if (source !== "resource" && source !== "containerResource") return [];
  const target = child(body, "target");
  const [utilization, average] = [numeral(target, "averageUtilization"), text(target, "averageValue")];
  const field = `${path}.${source}.target`;
  const errors: FieldError[] = [...requiredText(body, "name", `${path}.${source}`)];
  if (utilization !== undefined && utilization < 1)
    errors.push(invalid(`${field}.averageUtilization`, utilization, "must be greater than 0"));
  if (utilization === undefined && average === "") {
    errors.push(required(`${field}.averageUtilization`, "must set either a target raw value or a target utilization"));
  }
  if (utilization !== undefined && average !== "") {
    errors.push(forbidden(`${field}.averageValue`, "may not set both a target raw value and a target utilization"));
  }
  return errors;
}
