import { deepEqual } from "../../../kube/equality.ts";
import { type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, entries, items, numeral, text } from "../draft.ts";
import { immutableMessage } from "../object-meta.ts";
import {
  checkAtMostAll,
  checkLabel,
  checkNotNegative,
  checkNumberOrPercent,
  checkOneOf,
  type Errors,
  invalidText,
  unsupportedText,
} from "./rules.ts";
import {
  mismatch,
  selectorErrors,
  selectorJson,
  selects,
  validateAlwaysRestarted,
  validateSelectedTemplate,
  validateTemplate,
} from "./template.ts";

/** Deployment, ReplicaSet and what came before it, StatefulSet, DaemonSet and ControllerRevision. */

const specOf = (object: Draft): Draft => child(object, "spec") ?? {};

export function validateDeployment(object: Draft): Errors {
  const spec = specOf(object);
  const strategy = child(spec, "strategy");
  return [
    ...checkNotNegative(spec, "replicas", "spec"),
    ...validateSelectedTemplate(spec, { owner: "deployment", unreadable: "invalid label selector" }),
    ...validateAlwaysRestarted(spec, "ReplicaSet"),
    ...deploymentStrategyErrors(strategy),
    ...checkNotNegative(spec, "minReadySeconds", "spec"),
    ...checkNotNegative(spec, "revisionHistoryLimit", "spec"),
    ...checkNotNegative(spec, "progressDeadlineSeconds", "spec"),
    ...progressErrors(spec),
  ];
}

function deploymentStrategyErrors(strategy: Draft | undefined): Errors {
  const type = text(strategy, "type");
  const rolling = child(strategy, "rollingUpdate");
  if (type === "Recreate") {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return rolling ? [forbidden("spec.strategy.rollingUpdate", detail)] : [];
  }
  if (type !== "RollingUpdate") {
    const shown = `{"Type":${JSON.stringify(type)},"RollingUpdate":null}`;
    return [unsupportedText("spec.strategy", shown, ["Recreate", "RollingUpdate"])];
  }
  if (!rolling) return [required("spec.strategy.rollingUpdate", "this should be defaulted and never be nil")];
  const path = "spec.strategy.rollingUpdate";
  const { maxUnavailable, maxSurge } = rolling;
  const errors: FieldError[] = [
    ...checkNumberOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...checkNumberOrPercent(maxSurge, `${path}.maxSurge`),
  ];
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
    errors.push(invalid(`${path}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
  }
  return [...errors, ...checkAtMostAll(maxUnavailable, `${path}.maxUnavailable`)];
}

const amountOf = (value: unknown): number =>
  typeof value === "number" ? value : Number.parseInt(String(value), 10) || 0;

function progressErrors(spec: Draft): Errors {
  const deadline = numeral(spec, "progressDeadlineSeconds");
  if (deadline === undefined || deadline > (numeral(spec, "minReadySeconds") ?? 0)) return [];
  return [invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")];
}

/** The pods that a controller owns are found by its selector, so that it cannot change. */
export function selectorIsFixed(object: Draft, old: Draft): Errors {
  const selector = child(specOf(object), "selector");
  if (deepEqual(selector, child(specOf(old), "selector"))) return [];
  return [invalidText("spec.selector", selectorJson(selector), immutableMessage)];
}

export function validateReplicationController(object: Draft): Errors {
  const spec = specOf(object);
  const template = child(spec, "template");
  const labels = entries(spec, "selector");
  const found = child(child(template, "metadata"), "labels");
  return [
    ...checkNotNegative(spec, "minReadySeconds", "spec"),
    ...(labels.length === 0 ? [required("spec.selector")] : []),
    ...checkNotNegative(spec, "replicas", "spec"),
    ...(template
      ? [
          ...(labels.every(([key, value]) => found?.[key] === value) ? [] : [mismatch(template)]),
          ...validateTemplate(template, "spec.template"),
          ...validateAlwaysRestarted(spec, "ReplicationController"),
        ]
      : [required("spec.template")]),
  ];
}

export function validateReplicaSet(object: Draft): Errors {
  const spec = specOf(object);
  return [
    ...checkNotNegative(spec, "replicas", "spec"),
    ...checkNotNegative(spec, "minReadySeconds", "spec"),
    ...validateSelectedTemplate(spec, { owner: "deployment", unreadable: "invalid label selector" }),
    ...validateAlwaysRestarted(spec, "ReplicaSet"),
  ];
}

export function validateStatefulSet(object: Draft): Errors {
  const spec = specOf(object);
  return [...validateStatefulSetSpec(spec), ...serviceNameErrors(spec)].toSorted(byPlace);
}

/** The service's name is looked at between the counts and the selector. */
const byPlace = (left: FieldError, right: FieldError): number => placeOf(left) - placeOf(right);
const placeOf = ({ field }: FieldError): number =>
  field.startsWith("spec.selector") || field.startsWith("spec.template") ? 2 : field === "spec.serviceName" ? 1 : 0;

const serviceNameErrors = (spec: Draft): Errors =>
  text(spec, "serviceName") === "" ? [] : checkLabel(text(spec, "serviceName"), "spec.serviceName");

export function validateStatefulSetSpec(spec: Draft): Errors {
  return [
    ...managementErrors(spec),
    ...statefulStrategyErrors(child(spec, "updateStrategy")),
    ...retentionErrors(child(spec, "persistentVolumeClaimRetentionPolicy")),
    ...checkNotNegative(spec, "replicas", "spec"),
    ...checkNotNegative(spec, "minReadySeconds", "spec"),
    ...checkNotNegative(child(spec, "ordinals"), "start", "spec.ordinals"),
    ...validateSelectedTemplate(withClaimVolumes(spec), { owner: "statefulset" }),
    ...validateAlwaysRestarted(spec, "StatefulSet"),
  ];
}

function managementErrors(spec: Draft): Errors {
  const policy = text(spec, "podManagementPolicy");
  if (policy === "OrderedReady" || policy === "Parallel") return [];
  return [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")];
}

function statefulStrategyErrors(strategy: Draft | undefined): Errors {
  const type = text(strategy, "type");
  const rolling = child(strategy, "rollingUpdate");
  if (type === "OnDelete") {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    return rolling ? [invalid("spec.updateStrategy.rollingUpdate", rolling, detail)] : [];
  }
  if (type === "RollingUpdate") return checkNotNegative(rolling, "partition", "spec.updateStrategy.rollingUpdate");
  const shown = `{"Type":${JSON.stringify(type)},"RollingUpdate":null}`;
  return [invalidText("spec.updateStrategy", shown, "must be 'RollingUpdate' or 'OnDelete'")];
}

function retentionErrors(policy: Draft | undefined): Errors {
  const path = "spec.persistentVolumeClaimRetentionPolicy";
  return ["whenDeleted", "whenScaled"].flatMap((field) =>
    checkOneOf(text(policy, field), `${path}.${field}`, ["Retain", "Delete"]),
  );
}

/** Every claim template is also a volume of the pods, and the controller names host and subdomain itself. */
function withClaimVolumes(spec: Draft): Draft {
  const template = child(spec, "template") ?? {};
  const { hostname: _host, subdomain: _domain, ...pod } = child(template, "spec") ?? {};
  const claims = items(spec, "volumeClaimTemplates").map((claim) => text(child(claim, "metadata"), "name"));
  const volumes = items(pod, "volumes").filter((volume) => !claims.includes(text(volume, "name")));
  const added = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const all = [...added, ...volumes];
  return { ...spec, template: { ...template, spec: { ...pod, ...(all.length > 0 && { volumes: all }) } } };
}

const statefulSetFreeFields = new Set([
  ...["replicas", "template", "updateStrategy", "minReadySeconds", "ordinals", "revisionHistoryLimit"],
  "persistentVolumeClaimRetentionPolicy",
]);

export function validateStatefulSetUpdate(object: Draft, old: Draft): Errors {
  const fixed = (draft: Draft): Draft =>
    Object.fromEntries(Object.entries(specOf(draft)).filter(([field]) => !statefulSetFreeFields.has(field)));
  const errors: FieldError[] = [...validateStatefulSetSpec(specOf(object))];
  if (!deepEqual(fixed(object), fixed(old))) {
    const allowed =
      "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
    errors.push(forbidden("spec", `updates to statefulset spec for fields other than ${allowed} are forbidden`));
  }
  return errors;
}

export function validateDaemonSet(object: Draft): Errors {
  const spec = specOf(object);
  const selector = child(spec, "selector");
  const template = child(spec, "template");
  return [
    ...(selector
      ? selectorErrors(selector, "daemonset").filter(({ detail }) => !detail.startsWith("empty selector"))
      : []),
    ...(selects(selector, template) === false ? [mismatch(template)] : []),
    ...(selector
      ? selectorErrors(selector, "daemonset").filter(({ detail }) => detail.startsWith("empty selector"))
      : []),
    ...validateTemplate(template, "spec.template"),
    ...validateAlwaysRestarted(spec, "DaemonSet"),
    ...checkNotNegative(spec, "minReadySeconds", "spec"),
    ...daemonStrategyErrors(child(spec, "updateStrategy")),
    ...checkNotNegative(spec, "revisionHistoryLimit", "spec"),
  ];
}

function daemonStrategyErrors(strategy: Draft | undefined): Errors {
  const type = text(strategy, "type");
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate") {
    const shown = `{"Type":${JSON.stringify(type)},"RollingUpdate":null}`;
    return [unsupportedText("spec.updateStrategy", shown, ["RollingUpdate", "OnDelete"])];
  }
  const path = "spec.updateStrategy.rollingUpdate";
  const rolling = child(strategy, "rollingUpdate");
  if (!rolling) return [required(path)];
  const { maxUnavailable, maxSurge } = rolling;
  const errors: FieldError[] = [
    ...checkNumberOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...checkNumberOrPercent(maxSurge, `${path}.maxSurge`),
    ...checkAtMostAll(maxUnavailable, `${path}.maxUnavailable`),
    ...checkAtMostAll(maxSurge, `${path}.maxSurge`),
  ];
  const [unavailable, surge] = [amountOf(maxUnavailable), amountOf(maxSurge)];
  if (unavailable !== 0 && surge !== 0) {
    errors.push(invalid(`${path}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  }
  if (unavailable === 0 && surge === 0)
    errors.push(required(`${path}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  return errors;
}

export function validateControllerRevision(object: Draft): Errors {
  const data = object["data"];
  const errors: FieldError[] = [];
  if (data === undefined || data === null) errors.push(required("data", "data is mandatory"));
  else if (typeof data !== "object" || Array.isArray(data))
    errors.push(required("data", "data must be a valid JSON object"));
  const revision = numeral(object, "revision") ?? 0;
  if (revision < 0) errors.push(invalid("revision", revision, "must be greater than or equal to 0"));
  return errors;
}

export function validateControllerRevisionUpdate(object: Draft, old: Draft): Errors {
  return deepEqual(object["data"], old["data"]) ? [] : [invalid("data", object["data"], immutableMessage)];
}
