import { type FieldError, invalid } from "../../../kube/field-error.ts";
import { child, type Draft, items, numeral, text } from "../draft.ts";
import { immutableMessage } from "../object-meta.ts";
import { checkNotNegative, type Errors } from "./rules.ts";

/** What a status may say: controllers are held to the same arithmetic as the real server holds them to. */

const statusOf = (object: Draft): Draft => child(object, "status") ?? {};

interface CountRule {
  readonly counts: readonly string[];
  /** No more than `replicas`, in this order. */
  readonly parts: readonly string[];
  /** How the message calls the number of ready replicas. */
  readonly readyName: string;
}

const replicaCounts =
  ({ counts, parts, readyName }: CountRule) =>
  (object: Draft): Errors => {
    const status = statusOf(object);
    const count = (field: string): number => numeral(status, field) ?? 0;
    const errors: FieldError[] = counts.flatMap((field) => checkNotNegative(status, field, "status"));
    for (const field of parts) {
      if (count(field) > count("replicas")) {
        errors.push(invalid(`status.${field}`, count(field), "cannot be greater than status.replicas"));
      }
    }
    if (count("availableReplicas") > count("readyReplicas")) {
      errors.push(
        invalid("status.availableReplicas", count("availableReplicas"), `cannot be greater than ${readyName}`),
      );
    }
    return errors;
  };

export const validateDeploymentStatus = replicaCounts({
  counts: [
    ...["observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"],
    ...["unavailableReplicas", "terminatingReplicas", "collisionCount"],
  ],
  parts: ["updatedReplicas", "readyReplicas", "availableReplicas"],
  readyName: "readyReplicas",
});

export const validateReplicaSetStatus = replicaCounts({
  counts: [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
  ],
  parts: ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
  readyName: "readyReplicas",
});

export const validateReplicationControllerStatus = replicaCounts({
  counts: ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"],
  parts: ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
  readyName: "readyReplicas",
});

export const validateStatefulSetStatus = replicaCounts({
  counts: [
    ...["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
    ...["observedGeneration", "collisionCount"],
  ],
  parts: ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
  readyName: "status.readyReplicas",
});

const daemonCounts = [
  ...["currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration"],
  ...["updatedNumberScheduled", "numberAvailable", "numberUnavailable"],
];

export const validateDaemonSetStatus = (object: Draft): Errors =>
  daemonCounts.flatMap((field) => checkNotNegative(statusOf(object), field, "status"));

export const validateBudgetStatus = (object: Draft): Errors =>
  ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"].flatMap((field) =>
    checkNotNegative(statusOf(object), field, "status"),
  );

export function validateNamespaceStatus(object: Draft): Errors {
  const phase = text(statusOf(object), "phase");
  const isGoing = text(child(object, "metadata"), "deletionTimestamp") !== "";
  if (isGoing) {
    const detail = "may only be 'Terminating' if `deletionTimestamp` is not empty";
    return phase === "Terminating" ? [] : [invalid("status.Phase", phase, detail)];
  }
  const detail = "may only be 'Active' if `deletionTimestamp` is empty";
  return phase === "Active" ? [] : [invalid("status.Phase", phase, detail)];
}

export function validatePodStatus(object: Draft, old: Draft): Errors {
  const [now, then] = [text(statusOf(object), "qosClass"), text(statusOf(old), "qosClass")];
  return now === then ? [] : [invalid("status.qosClass", now, immutableMessage)];
}

const conditionIsTrue = (object: Draft, type: string): boolean =>
  items(statusOf(object), "conditions").some(
    (condition) => text(condition, "type") === type && text(condition, "status") === "True",
  );

const conditionError = (detail: string): FieldError => ({ type: "Invalid", field: "status.conditions", detail });

/** A job that has ended stays ended, and says when and why. Only what changes is judged. */
export function validateJobStatus(object: Draft, old: Draft): Errors {
  const [status, before] = [statusOf(object), statusOf(old)];
  const [complete, failed] = [conditionIsTrue(object, "Complete"), conditionIsTrue(object, "Failed")];
  const [wasComplete, hadFailed] = [conditionIsTrue(old, "Complete"), conditionIsTrue(old, "Failed")];
  const [succeededBefore, target] = [
    conditionIsTrue(object, "SuccessCriteriaMet"),
    conditionIsTrue(object, "FailureTarget"),
  ];
  const finished = complete || failed;
  const finishes = finished !== (wasComplete || hadFailed);
  const completes = complete !== wasComplete;
  const changed = (field: string): boolean => JSON.stringify(status[field]) !== JSON.stringify(before[field]);
  const completionTime = text(status, "completionTime");
  const errors: FieldError[] = ["active", "succeeded", "failed", "ready", "terminating"].flatMap((field) => [
    ...checkNotNegative(status, field, "status"),
  ]);
  if (complete && failed) errors.push(conditionError("cannot set Complete=True and Failed=true conditions"));
  if (complete && target) errors.push(conditionError("cannot set Complete=True and FailureTarget=true conditions"));
  if ((completes || changed("completionTime")) && completionTime !== "" && !complete) {
    errors.push(
      invalid(
        "status.completionTime",
        completionTime,
        "cannot set completionTime when there is no Complete=True condition",
      ),
    );
  }
  if ((completes || changed("completionTime")) && completionTime === "" && complete) {
    errors.push({
      type: "Required",
      field: "status.completionTime",
      detail: "completionTime is required for Complete jobs",
    });
  }
  const startTime = text(status, "startTime");
  if (completionTime !== "" && startTime !== "" && completionTime < startTime) {
    errors.push(invalid("status.completionTime", completionTime, "must be equal to or after `startTime`"));
  }
  if (failed !== hadFailed && failed && !target) {
    errors.push(conditionError("cannot set Failed=True condition without the FailureTarget=true condition"));
  }
  if (completes && complete && !succeededBefore) {
    errors.push(conditionError("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"));
  }
  const active = numeral(status, "active") ?? 0;
  if ((finishes || changed("active")) && finished && active > 0) {
    errors.push(invalid("status.active", active, "active>0 is invalid for finished job"));
  }
  const isIdle = child(object, "spec")?.["suspend"] === true && child(object, "spec")?.["completions"] === 0;
  if ((finishes || changed("startTime")) && finished && startTime === "" && !isIdle) {
    errors.push({ type: "Required", field: "status.startTime", detail: "startTime is required for finished job" });
  }
  const ready = numeral(status, "ready");
  if ((changed("ready") || changed("active")) && ready !== undefined && ready > active) {
    errors.push(invalid("status.ready", ready, "cannot set more ready pods than active"));
  }
  if (succeededBefore && failed)
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and Failed=true conditions"));
  if (succeededBefore && target)
    errors.push(conditionError("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"));
  return [...errors, ...jobTransitionErrors(object, old)];
}

const terminalConditions = ["Failed", "Complete", "FailureTarget"];

function jobTransitionErrors(object: Draft, old: Draft): Errors {
  const [status, before] = [statusOf(object), statusOf(old)];
  const undone = (type: string): boolean => conditionIsTrue(old, type) && !conditionIsTrue(object, type);
  const errors: FieldError[] = terminalConditions
    .filter(undone)
    .map((type) => conditionError(`cannot disable the terminal ${type}=True condition`));
  for (const field of ["failed", "succeeded"]) {
    const now = numeral(status, field) ?? 0;
    if (now < (numeral(before, field) ?? 0))
      errors.push(invalid(`status.${field}`, now, `cannot decrease the ${field} counter`));
  }
  if (undone("SuccessCriteriaMet")) errors.push(conditionError("cannot disable the SuccessCriteriaMet=True condition"));
  return errors;
}
