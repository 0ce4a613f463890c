import { deepEqual } from "../../../kube/equality.ts";
import { duplicate, type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, entries, items, text } from "../draft.ts";
import { jsonDiff } from "../go-diff.ts";
import { qosClass } from "../qos.ts";
import { validatePodSpec } from "./pod-spec.ts";
import { checkLabel, type Errors } from "./rules.ts";

/** What may be written through pods/ephemeralcontainers and pods/resize. */

export function validateEphemeralContainers(object: Draft, old: Draft): Errors {
  const now = items(child(object, "spec"), "ephemeralContainers");
  const errors = now.flatMap((container, index) => containerErrors(container, index, object));
  if (errors.length > 0) return errors;
  return items(child(old, "spec"), "ephemeralContainers").flatMap((before) => {
    const after = now.find((container) => text(container, "name") === text(before, "name"));
    if (after && deepEqual(after, before)) return [];
    const what = `existing ephemeral containers ${JSON.stringify(text(before, "name"))} may not be`;
    return [
      forbidden(
        "spec.ephemeralContainers",
        after ? `${what} changed\n${jsonDiff(before, after)}` : `${what} removed\n`,
      ),
    ];
  });
}

const refusedFields = ["ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resizePolicy"];

function containerErrors(container: Draft, index: number, pod: Draft): Errors {
  const spec = child(pod, "spec");
  const at = `spec.ephemeralContainers[${index}]`;
  const name = text(container, "name");
  const errors: FieldError[] = name === "" ? [required(`${at}.name`)] : [...checkLabel(name, `${at}.name`)];
  const others = [...items(spec, "containers"), ...items(spec, "initContainers")].map((other) => text(other, "name"));
  const earlier = items(spec, "ephemeralContainers").slice(0, index);
  if (others.includes(name) || earlier.some((other) => text(other, "name") === name)) {
    errors.push(duplicate(`${at}.name`, name));
  }
  if (text(container, "image") === "") errors.push(required(`${at}.image`));
  const target = text(container, "targetContainerName");
  if (target !== "" && !others.includes(target)) {
    errors.push({ type: "NotFound", field: `${at}.targetContainerName`, detail: JSON.stringify(target) });
  }
  for (const field of refusedFields) {
    if (container[field] !== undefined) {
      errors.push(forbidden(`${at}.${field}`, "cannot be set for an Ephemeral Container"));
    }
  }
  if (entries(container, "resources").length > 0) {
    errors.push(forbidden(`${at}.resources`, "cannot be set for an Ephemeral Container"));
  }
  return errors;
}

export function validatePodResize(object: Draft, old: Draft): Errors {
  const [spec, before] = [child(object, "spec") ?? {}, child(old, "spec") ?? {}];
  const errors: FieldError[] = [...validatePodSpec(spec, "spec")];
  if (qosClass(spec) !== qosClass(before)) {
    errors.push(invalid("spec", qosClass(before), "Pod QOS Class may not change as a result of resizing"));
  }
  for (const field of ["containers", "initContainers"]) {
    for (const [index, container] of items(spec, field).entries()) {
      errors.push(...removedErrors(container, items(before, field)[index], `spec.${field}[${index}].resources`));
    }
  }
  const hasOther = items(spec, "containers").some((container, index) =>
    changedResources(container, items(before, "containers")[index]).some((name) => name !== "cpu" && name !== "memory"),
  );
  return hasOther ? [...errors, forbidden("spec", "only cpu and memory resources are mutable")] : errors;
}

function removedErrors(container: Draft, before: Draft | undefined, path: string): Errors {
  return ["limits", "requests"].flatMap((side) => {
    const now = new Set(entries(child(container, "resources"), side).map(([name]) => name));
    const isRemoved = entries(child(before, "resources"), side).some(([name]) => !now.has(name));
    return isRemoved ? [forbidden(`${path}.${side}`, `resource ${side} cannot be removed`)] : [];
  });
}

function changedResources(container: Draft, before: Draft | undefined): readonly string[] {
  return ["limits", "requests"].flatMap((side) => {
    const then = new Map(entries(child(before, "resources"), side));
    return entries(child(container, "resources"), side)
      .filter(([name, amount]) => then.get(name) !== amount)
      .map(([name]) => name);
  });
}
