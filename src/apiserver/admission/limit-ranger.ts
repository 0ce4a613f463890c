import type { KubeObject } from "../../kube/object.ts";
import { claimLimitErrors, type LimitRange, podLimitErrors, withDefaultLimits } from "../builtin/index.ts";
import { forbidden } from "../protocol/status-error.ts";
import type { Store } from "../storage/store.ts";
import type { Admission, AdmissionQuestion } from "./admission.ts";

const resource = "limitranges";

/** The LimitRanges of a namespace: defaults for containers that say nothing, bounds for pods, containers and claims. */
export function limitRanger(store: Store): Admission {
  const ranges = store.collection(resource);
  const rangesFor = (question: AdmissionQuestion): readonly LimitRange[] => {
    if (ranges.size === 0 || !isBounded(question)) return [];
    return ranges
      .range(`${question.namespace}/`)
      .flatMap(({ key }) => (store.latest(resource, key)?.object as LimitRange | undefined) ?? []);
  };
  return {
    mutate(question) {
      const { object, endpoint } = question;
      if (!object || endpoint.collection !== "pods") return undefined;
      const filled = rangesFor(question).reduce(withDefaultLimits, object);
      return filled === object ? undefined : filled;
    },
    validate(question) {
      const { object, endpoint, name } = question;
      if (!object) return;
      const errorsOf = endpoint.collection === "pods" ? podLimitErrors : claimLimitErrors;
      for (const range of rangesFor(question)) {
        const errors = [...new Set(errorsOf(object, range))];
        if (errors.length > 0) throw forbidden(endpoint.resourceName, name, together(errors));
      }
    },
  };
}

/** New pods, pods that are resized, and claims whenever they are written; what is being deleted is left alone. */
function isBounded({ endpoint, operation, subresource, oldObject }: AdmissionQuestion): boolean {
  if (endpoint.isCustom || isLeaving(oldObject)) return false;
  if (endpoint.collection === "pods") {
    return operation === "CREATE" ? subresource === "" : operation === "UPDATE" && subresource === "resize";
  }
  const isWrite = operation === "CREATE" || operation === "UPDATE";
  return endpoint.collection === "persistentvolumeclaims" && isWrite && subresource === "";
}

const isLeaving = (object: KubeObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined;

const together = (errors: readonly string[]): string =>
  errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`;
