import { labelMaxLength } from "../../../kube/names.ts";
import type { Behaviour } from "../behaviour.ts";
import { ageColumn, ageOf, column, nameColumn } from "../columns.ts";
import { child, type Draft, descend, ensure, fill, fillEmpty, items, numeral, text } from "../draft.ts";
import { humanDuration } from "../human-duration.ts";
import { validateCronJob, validateCronJobUpdate, validateJob, validateJobUpdate } from "../validation/batch.ts";
import { validateJobStatus } from "../validation/status.ts";
import { workloadWarnings } from "../warnings.ts";
import { containerColumns, selectorColumn } from "./template-columns.ts";

/** Job and CronJob. */

const maxInt32 = 2 ** 31 - 1;

export const job: Behaviour = {
  validate: validateJob,
  validateStatus: validateJobStatus,
  warnings: workloadWarnings("spec", "template"),
  updateSkipsValidate: true,
  validateUpdate: validateJobUpdate,
  generationPaths: ["spec"],
  selectableFields: ["status.successful"],
  unknownFieldMessage: (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  fieldValues: { "status.successful": (object) => String(numeral(child(object, "status"), "succeeded") ?? 0) },
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    fillJobSpec(spec);
    // A new job gets its labels together with its selector, below.
    if (child(spec, "selector")) labelsFromTemplate(draft);
  },
  prepareCreate(draft) {
    generateSelector(draft);
    // The real server copies them after it has judged the object; a name that is no label value is the template's fault.
    if (text(child(draft, "metadata"), "name").length <= labelMaxLength) labelsFromTemplate(draft);
  },
  columns: [
    nameColumn,
    column("Status", statusOf),
    column("Completions", completions),
    column("Duration", durationOf),
    ageColumn,
    ...containerColumns(["spec"]),
    selectorColumn(["spec"]),
  ],
};

export const cronJob: Behaviour = {
  validate: validateCronJob,
  warnings: workloadWarnings("spec", "jobTemplate", "spec", "template"),
  updateSkipsValidate: true,
  validateUpdate: validateCronJobUpdate,
  generationPaths: ["spec"],
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    fillEmpty(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
  },
  columns: [
    nameColumn,
    column("Schedule", (object) => text(child(object, "spec"), "schedule")),
    column("Timezone", (object) => text(child(object, "spec"), "timeZone") || "<none>"),
    column("Suspend", (object) => (child(object, "spec")?.["suspend"] === true ? "True" : "False"), {
      type: "boolean",
    }),
    column("Active", (object) => items(child(object, "status"), "active").length, { type: "integer" }),
    column("Last Schedule", (object, now) => {
      const status = child(object, "status");
      return text(status, "lastScheduleTime") === "" ? "<none>" : ageOf(status, "lastScheduleTime", now);
    }),
    ageColumn,
    ...containerColumns(["spec", "jobTemplate", "spec"]),
    selectorColumn(["spec", "jobTemplate", "spec"]),
  ],
};

function fillJobSpec(spec: Draft): void {
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) fill(spec, "completions", 1);
  fill(spec, "parallelism", 1);
  fill(spec, "backoffLimit", spec["backoffLimitPerIndex"] === undefined ? 6 : maxInt32);
  fill(spec, "completionMode", "NonIndexed");
  fill(spec, "suspend", false);
  fill(spec, "podReplacementPolicy", spec["podFailurePolicy"] === undefined ? "TerminatingOrFailed" : "Failed");
  fill(spec, "manualSelector", false);
}

function labelsFromTemplate(draft: Draft): void {
  const metadata = child(draft, "metadata");
  const labels = child(descend(draft, "spec", "template", "metadata"), "labels");
  if (metadata && labels && Object.keys(child(metadata, "labels") ?? {}).length === 0)
    metadata["labels"] = { ...labels };
}

/** A job selects its own pods by its uid, unless its author said otherwise. Name and uid must be set already. */
function generateSelector(draft: Draft): void {
  const spec = ensure(draft, "spec");
  if (spec["manualSelector"] === true) return;
  const metadata = child(draft, "metadata");
  const labels = ensure(ensure(ensure(spec, "template"), "metadata"), "labels");
  for (const key of ["job-name", "batch.kubernetes.io/job-name"]) labels[key] ??= text(metadata, "name");
  for (const key of ["controller-uid", "batch.kubernetes.io/controller-uid"]) labels[key] ??= text(metadata, "uid");
  const matchLabels = ensure(ensure(spec, "selector"), "matchLabels");
  matchLabels["batch.kubernetes.io/controller-uid"] ??= text(metadata, "uid");
}

function statusOf(object: Draft): string {
  const conditions = items(child(object, "status"), "conditions");
  const isTrue = (type: string): boolean =>
    text(
      conditions.find((condition) => text(condition, "type") === type),
      "status",
    ) === "True";
  if (isTrue("Complete")) return "Complete";
  if (isTrue("Failed")) return "Failed";
  if (text(child(object, "metadata"), "deletionTimestamp") !== "") return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(isTrue) ?? "Running";
}

function completions(object: Draft): string {
  const spec = child(object, "spec");
  const succeeded = numeral(child(object, "status"), "succeeded") ?? 0;
  const wanted = numeral(spec, "completions");
  if (wanted !== undefined) return `${succeeded}/${wanted}`;
  const parallelism = numeral(spec, "parallelism") ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationOf(object: Draft, now: Date): string {
  const status = child(object, "status");
  const start = Date.parse(text(status, "startTime"));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(text(status, "completionTime"));
  return humanDuration((Number.isNaN(end) ? now.getTime() : end) - start);
}
