/** The `conditions` list that every status carries, keyed by type so that two writers never lose each other's entry. */
import type { Condition } from "../kube/condition.ts";
import { array, dateTime, type Field, integer, object, oneOf, optional, string } from "../kube/schema/build.ts";

/** A kind's condition types and, for each, every reason that we ever write. */
export type ConditionReasons = Readonly<Record<string, readonly string[]>>;
export type ConditionTypeOf<C extends ConditionReasons> = keyof C & string;
export type ReasonOf<C extends ConditionReasons, T extends keyof C = keyof C> = C[T][number];

export const observedGeneration = optional(
  integer({ description: "The generation of the spec that this status speaks of.", minimum: 0, format: "int64" }),
);

/** `types` closes the list of types where upstream's schema does; elsewhere other writers may add their own. */
export function conditions(types?: readonly string[]): Field<readonly Condition[]> {
  const description = "What the condition is about.";
  const item = object({
    type: types ? oneOf(types, { description }) : string({ description, minLength: 1, maxLength: 316 }),
    status: oneOf(["True", "False", "Unknown"], { description: "Whether it holds: True, False, or Unknown." }),
    reason: optional(string({ description: "One word for the cause, made for programs.", maxLength: 1024 })),
    message: optional(string({ description: "One sentence for people.", maxLength: 32768 })),
    lastTransitionTime: optional(dateTime({ description: "When the status last changed." })),
    observedGeneration: optional(
      integer({ description: "The generation of the spec that this was decided for.", minimum: 0, format: "int64" }),
    ),
  });
  // The schema lets others leave out what upstream lets them leave out; what we write is always whole.
  return array(item as Field<Condition>, {
    description: "The state of the object, one entry per type.",
    keys: ["type"],
  });
}
