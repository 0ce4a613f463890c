import { deepEqual } from "../../../kube/equality.ts";
import { type FieldError, forbidden, invalid } from "../../../kube/field-error.ts";
import { child, type Draft, items, numeral, text } from "../draft.ts";
import { jsonDiff } from "../go-diff.ts";
import { isRecord } from "../json.ts";
import { validatePodSpec } from "./pod-spec.ts";
import type { Errors } from "./rules.ts";

/** The little that may change in a pod that exists: images, deadline, more tolerations, fewer gates. */
export function validatePodUpdate(object: Draft, old: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const before = child(old, "spec") ?? {};
  const errors: FieldError[] = [...validatePodSpec(spec, "spec")];
  for (const field of ["containers", "initContainers"]) {
    if (items(spec, field).length !== items(before, field).length) {
      return [...errors, forbidden(`spec.${field}`, "pod updates may not add or remove containers")];
    }
    errors.push(...imageErrors(items(spec, field), `spec.${field}`));
  }
  errors.push(...deadlineErrors(spec, before), ...tolerationErrors(spec, before), ...gateErrors(spec, before));
  const allowed = withAllowedChanges(spec, before);
  if (!deepEqual(allowed, before)) {
    errors.push(
      forbidden(
        "spec",
        `pod updates may not change fields other than ${changeable}\n${jsonDiff(inOrder(before), inOrder(allowed))}`,
      ),
    );
  }
  return errors;
}

const changeable = [
  ...["`spec.containers[*].image`", "`spec.initContainers[*].image`", "`spec.activeDeadlineSeconds`"],
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

function imageErrors(containers: readonly Draft[], path: string): Errors {
  return containers.flatMap((container, index) => {
    const image = text(container, "image");
    if (image === image.trim()) return [];
    return [invalid(`${path}[${index}].image`, image, "must not have leading or trailing whitespace")];
  });
}

function deadlineErrors(spec: Draft, before: Draft): Errors {
  const [now, then] = [numeral(spec, "activeDeadlineSeconds"), numeral(before, "activeDeadlineSeconds")];
  const field = "spec.activeDeadlineSeconds";
  if (now !== undefined && then !== undefined && then < now) {
    return [invalid(field, now, "must be less than or equal to previous value")];
  }
  if (now === undefined && then !== undefined)
    return [invalid(field, null, "must not update from a positive integer to nil value")];
  return [];
}

function tolerationErrors(spec: Draft, before: Draft): Errors {
  const now = items(spec, "tolerations");
  const isKept = (toleration: Draft): boolean =>
    now.some((candidate) => deepEqual({ ...candidate, tolerationSeconds: 0 }, { ...toleration, tolerationSeconds: 0 }));
  if (items(before, "tolerations").every(isKept)) return [];
  return [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

function gateErrors(spec: Draft, before: Draft): Errors {
  const known = new Set(items(before, "schedulingGates").map((gate) => text(gate, "name")));
  return items(spec, "schedulingGates").flatMap((gate) =>
    known.has(text(gate, "name"))
      ? []
      : [
          forbidden(
            "spec.schedulingGates",
            `only deletion is allowed, but found new scheduling gate '${text(gate, "name")}'`,
          ),
        ],
  );
}

/** Two writers may order fields differently without differing. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => [key, inOrder(member)]),
  );
}

/** The new spec with everything that may change put back. */
function withAllowedChanges(spec: Draft, before: Draft): Draft {
  const images = (field: string): readonly Draft[] =>
    items(spec, field).map((container, index) => ({ ...container, image: items(before, field)[index]?.["image"] }));
  const result: Draft = { ...spec };
  for (const field of ["containers", "initContainers"]) if (spec[field] !== undefined) result[field] = images(field);
  for (const field of ["activeDeadlineSeconds", "schedulingGates", "tolerations"]) {
    if (before[field] === undefined) delete result[field];
    else result[field] = before[field];
  }
  return result;
}
