import { deepEqual } from "../../../kube/equality.ts";
import { type FieldError, invalid, required } from "../../../kube/field-error.ts";
import { labelKeyErrors } from "../../../kube/names.ts";
import { toCoreEvent } from "../convert-event.ts";
import { child, type Draft, text } from "../draft.ts";
import type { Errors } from "./rules.ts";

/** Events: the old group takes nearly anything, the new one wants to know who, what and when. */

export function validateCoreEvent(object: Draft): Errors {
  const namespace = text(child(object, "metadata"), "namespace");
  const involved = text(child(object, "involvedObject"), "namespace");
  const expected = involved === "" ? "default" : involved;
  if (namespace === expected) return [];
  const detail = "does not match event.namespace";
  return [invalid("involvedObject.namespace", involved, involved === "" ? "not allowed in default namespace" : detail)];
}

/** What was said stays said: only the series of an event goes on. */
export function validateNewEventUpdate(object: Draft, old: Draft): Errors {
  const [after, before] = [toCoreEvent(object), toCoreEvent(old)];
  return fixedFields
    .filter(([field]) => !deepEqual(after[field], before[field]))
    .map(([field, name = field]) => invalid(name, after[field] ?? "", "field is immutable"));
}

const fixedFields: readonly (readonly [field: string, name?: string])[] = [
  ["involvedObject"],
  ["reason"],
  ["message"],
  ["source"],
  ["firstTimestamp"],
  ["lastTimestamp"],
  ["count"],
  ["type"],
  ["eventTime"],
  ["action"],
  ["related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance"],
];

export function validateNewEvent(object: Draft): Errors {
  const errors: FieldError[] = [...regardingErrors(object)];
  const controller = text(object, "reportingController");
  const need = (field: string): void => {
    if (text(object, field) === "") errors.push(required(field));
  };
  if (text(object, "eventTime") === "") errors.push(required("eventTime"));
  else {
    need("reportingController");
    if (controller !== "") {
      errors.push(...labelKeyErrors(controller).map((error) => invalid("reportingController", controller, error)));
    }
    need("reportingInstance");
    need("action");
    need("reason");
  }
  const type = text(object, "type");
  // The message names the value twice, and the first time it is lost.
  if (type !== "Normal" && type !== "Warning") errors.push(invalid("type", "", `has invalid value: ${type}`));
  return errors;
}

/** Events about what lives in no namespace are kept where the system is. */
function regardingErrors(object: Draft): Errors {
  const namespace = text(child(object, "metadata"), "namespace");
  const regarding = text(child(object, "regarding"), "namespace");
  if (regarding !== "" || namespace === "default" || namespace === "kube-system") return [];
  return [invalid("involvedObject.namespace", regarding, "does not match event.namespace")];
}
