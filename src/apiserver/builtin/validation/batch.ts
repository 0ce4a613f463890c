import { deepEqual } from "../../../kube/equality.ts";
import { type FieldError, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { type LabelSelector, validateLabelSelector } from "../../../kube/label-selector.ts";
import { dns1123LabelErrors } from "../../../kube/names.ts";
import { child, type Draft, entries, items, numeral, text } from "../draft.ts";
import { immutableMessage, validateAnnotations, validateLabels } from "../object-meta.ts";
import { cronProblem } from "./cron.ts";
import { checkNotNegative, checkOneOf, type Errors, invalidText } from "./rules.ts";
import { mismatch, selectorJson, selects, validateTemplate } from "./template.ts";

/** Job and CronJob. */

const specOf = (object: Draft): Draft => child(object, "spec") ?? {};

export function validateJob(object: Draft): Errors {
  const spec = specOf(object);
  return [...generatedSelectorErrors(object, spec), ...validateJobSpec(spec), ...hostnameErrors(object, spec)];
}

function validateJobSpec(spec: Draft): Errors {
  const selector = child(spec, "selector");
  const template = child(spec, "template");
  return [
    ...jobBodyErrors(spec, "spec"),
    ...(selector ? validateLabelSelector(selector as LabelSelector, "spec.selector") : [required("spec.selector")]),
    ...(selects(selector, template) === false ? [mismatch(template)] : []),
  ];
}

const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];

function jobBodyErrors(spec: Draft, path: string): Errors {
  const mode = text(spec, "completionMode");
  const errors: FieldError[] = [
    ...[...counts, "backoffLimitPerIndex", "maxFailedIndexes"].flatMap((field) => checkNotNegative(spec, field, path)),
  ];
  if (spec["maxFailedIndexes"] !== undefined && spec["backoffLimitPerIndex"] === undefined) {
    errors.push(required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  errors.push(...checkOneOf(mode, `${path}.completionMode`, ["NonIndexed", "Indexed"]));
  if (mode === "Indexed" && spec["completions"] === undefined) {
    errors.push(required(`${path}.completions`, "when completion mode is Indexed"));
  }
  if (mode === "NonIndexed" || mode === "") {
    for (const field of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
      if (spec[field] !== undefined)
        errors.push(invalid(`${path}.${field}`, spec[field], "requires indexed completion mode"));
    }
  }
  errors.push(
    ...failurePolicyErrors(spec, `${path}.podFailurePolicy`),
    ...replacementErrors(spec, `${path}.podReplacementPolicy`),
    ...validateTemplate(child(spec, "template"), `${path}.template`),
    ...restartErrors(spec, `${path}.template.spec.restartPolicy`),
  );
  return errors;
}

const failureActions = ["Count", "FailIndex", "FailJob", "Ignore"];

function failurePolicyErrors(spec: Draft, path: string): Errors {
  return items(child(spec, "podFailurePolicy"), "rules").flatMap((rule, index) => {
    const at = `${path}.rules[${index}]`;
    const action = text(rule, "action");
    const errors: FieldError[] = [];
    if (action === "")
      errors.push(required(`${at}.action`, `valid values: [${failureActions.map((name) => `"${name}"`).join(" ")}]`));
    else if (action === "FailIndex") {
      if (spec["backoffLimitPerIndex"] === undefined) {
        errors.push(invalid(`${at}.action`, action, "requires the backoffLimitPerIndex to be set"));
      }
    } else errors.push(...checkOneOf(action, `${at}.action`, failureActions));
    const hasCodes = child(rule, "onExitCodes") !== undefined;
    const hasConditions = items(rule, "onPodConditions").length > 0;
    if (hasCodes && hasConditions) {
      errors.push({
        type: "Invalid",
        field: at,
        detail: "specifying both OnExitCodes and OnPodConditions is not supported",
      });
    }
    if (!hasCodes && !hasConditions) {
      errors.push({
        type: "Invalid",
        field: at,
        detail: "specifying one of OnExitCodes and OnPodConditions is required",
      });
    }
    return errors;
  });
}

function replacementErrors(spec: Draft, path: string): Errors {
  const policy = text(spec, "podReplacementPolicy");
  if (child(spec, "podFailurePolicy"))
    return policy === "Failed" || policy === "" ? [] : [notSupported(path, policy, ["Failed"])];
  return checkOneOf(policy, path, ["Failed", "TerminatingOrFailed"]);
}

function restartErrors(spec: Draft, path: string): Errors {
  const policy = text(child(child(spec, "template"), "spec"), "restartPolicy");
  if (policy === "Always" || policy === "") return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== "OnFailure" && policy !== "Never") return [notSupported(path, policy, ["OnFailure", "Never"])];
  if (policy !== "Never" && child(spec, "podFailurePolicy")) {
    return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  }
  return [];
}

/** The labels that the server itself put in when the job was made. */
function generatedSelectorErrors(object: Draft, spec: Draft): Errors {
  if (spec["manualSelector"] === true) return [];
  const selector = child(spec, "selector");
  if (!selector) return [];
  const metadata = child(object, "metadata");
  const labels = child(child(child(spec, "template"), "metadata"), "labels") ?? {};
  const expected: readonly (readonly [string, string])[] = [
    ["controller-uid", text(metadata, "uid")],
    ["job-name", text(metadata, "name")],
    ["batch.kubernetes.io/controller-uid", text(metadata, "uid")],
    ["batch.kubernetes.io/job-name", text(metadata, "name")],
  ];
  const errors: FieldError[] = expected.flatMap(([key, value]) => {
    const field = `spec.template.metadata.labels[${key}]`;
    if (labels[key] === undefined) return [required(field, `must be '${value}'`)];
    return labels[key] === value ? [] : [invalid(field, labels, `must be '${value}'`)];
  });
  const known = new Set(["controller-uid", "batch.kubernetes.io/controller-uid"]);
  const isGenerated =
    items(selector, "matchExpressions").length === 0 &&
    entries(selector, "matchLabels").every(([key, value]) => known.has(key) && value === text(metadata, "uid"));
  if (!isGenerated) errors.push(invalidText("spec.selector", selectorJson(selector), "`selector` not auto-generated"));
  return errors;
}

function hostnameErrors(object: Draft, spec: Draft): Errors {
  const completions = numeral(spec, "completions") ?? 0;
  if (text(spec, "completionMode") !== "Indexed" || completions <= 0) return [];
  const name = text(child(object, "metadata"), "name");
  const last = `${name}-${completions - 1}`;
  if (dns1123LabelErrors(last).length === 0) return [];
  return [invalid("metadata.name", name, `will not able to create pod with invalid DNS label: ${last}`)];
}

const fixedFields = [
  "selector",
  "template",
  "completionMode",
  "podFailurePolicy",
  "backoffLimitPerIndex",
  "managedBy",
  "successPolicy",
];

export function validateJobUpdate(object: Draft, old: Draft): Errors {
  const spec = specOf(object);
  const before = specOf(old);
  const errors: FieldError[] = [...validateJobSpec(spec)];
  if (!deepEqual(spec["completions"], before["completions"]) && !completionsMayChange(spec, before)) {
    errors.push(invalid("spec.completions", spec["completions"] ?? null, immutableMessage));
  }
  for (const field of fixedFields) {
    if (field === "template" && before["suspend"] === true) continue;
    if (deepEqual(spec[field], before[field])) continue;
    if (field === "selector")
      errors.push(invalidText("spec.selector", selectorJson(child(spec, "selector")), immutableMessage));
    else errors.push(invalid(`spec.${field}`, spec[field] ?? null, immutableMessage));
  }
  return errors;
}

/** An indexed job may grow or shrink together with its parallelism. */
const completionsMayChange = (spec: Draft, before: Draft): boolean =>
  text(spec, "completionMode") === "Indexed" &&
  spec["completions"] !== undefined &&
  before["completions"] !== undefined &&
  spec["completions"] === spec["parallelism"];

export function validateCronJob(object: Draft): Errors {
  return [...cronSpecErrors(specOf(object), undefined), ...cronNameErrors(object)];
}

export const validateCronJobUpdate = (object: Draft, old: Draft): Errors => cronSpecErrors(specOf(object), specOf(old));

const cronNameLimit = 52;

function cronNameErrors(object: Draft): Errors {
  const name = text(child(object, "metadata"), "name");
  return name.length > cronNameLimit
    ? [invalid("metadata.name", name, `must be no more than ${cronNameLimit} characters`)]
    : [];
}

function cronSpecErrors(spec: Draft, old: Draft | undefined): Errors {
  const template = child(spec, "jobTemplate");
  const metadata = child(template, "metadata");
  return [
    ...scheduleErrors(spec, old),
    ...checkNotNegative(spec, "startingDeadlineSeconds", "spec"),
    ...(old && old["timeZone"] === spec["timeZone"] ? [] : timeZoneErrors(spec["timeZone"])),
    ...checkOneOf(text(spec, "concurrencyPolicy"), "spec.concurrencyPolicy", ["Allow", "Forbid", "Replace"]),
    ...validateLabels(metadata, "labels", "spec.jobTemplate.labels"),
    ...validateAnnotations(metadata, "spec.jobTemplate.annotations"),
    ...jobBodyErrors(child(template, "spec") ?? {}, "spec.jobTemplate.spec"),
    ...checkNotNegative(spec, "successfulJobsHistoryLimit", "spec"),
    ...checkNotNegative(spec, "failedJobsHistoryLimit", "spec"),
  ];
}

function scheduleErrors(spec: Draft, old: Draft | undefined): Errors {
  const schedule = text(spec, "schedule");
  if (schedule === "") return [required("spec.schedule")];
  if (schedule.includes("TZ") && !text(old, "schedule").includes("TZ")) {
    return [invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")];
  }
  const problem = cronProblem(schedule.replace(/^(CRON_)?TZ=\S+\s+/, ""));
  return problem === undefined ? [] : [invalid("spec.schedule", schedule, problem)];
}

function timeZoneErrors(zone: unknown): Errors {
  const field = "spec.timeZone";
  if (typeof zone !== "string") return [];
  if (zone === "") return [invalid(field, zone, "timeZone must be nil or non-empty string")];
  if (zone.toLowerCase() === "local") {
    return [
      invalid(field, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"),
    ];
  }
  return isTimeZone(zone) ? [] : [invalid(field, zone, `unknown time zone ${zone}`)];
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
