/** A LabelSelector field, as Kubernetes has it. */
import type { LabelSelector } from "../kube/label-selector.ts";
import { array, type Field, map, object, optional, string } from "../kube/schema/build.ts";

export const labelSelector = (description: string): Field<LabelSelector> =>
  object(
    {
      matchLabels: optional(map(string(), { description: "Labels that must have exactly these values." })),
      matchExpressions: optional(
        array(
          object({
            key: string({ description: "The label." }),
            operator: string({ description: "In, NotIn, Exists or DoesNotExist." }),
            values: optional(array(string(), { description: "The values for In and NotIn.", listType: "atomic" })),
          }),
          { description: "Further conditions on labels; all must hold.", listType: "atomic" },
        ),
      ),
    },
    { description, mapType: "atomic" },
  );
