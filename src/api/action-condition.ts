/** What must hold before an action runs, or after it has run, said in Rego. */
import { boolean, dateTime, defaulted, object, optional, string, type TypeOf } from "../kube/schema/build.ts";
import { goDuration } from "./duration.ts";

export const actionCondition = object({
  type: string({ description: "A name for the condition.", minLength: 1 }),
  description: optional(string({ description: "What the condition is for." })),
  rego: string({
    description: "A Rego module in package precondition or postcondition, or below it, that decides allow.",
    minLength: 1,
  }),
  required: defaulted(
    boolean({ description: "Whether the action fails with the condition; otherwise it is only a warning." }),
    true,
  ),
  timeout: optional(goDuration("How long to wait for the condition: 30s before the action, 2m after it, if not set.")),
});
export type ActionCondition = TypeOf<typeof actionCondition>;

export const conditionResult = object({
  conditionType: string({ description: "The type of the condition." }),
  evaluated: optional(boolean({ description: "Whether it could be evaluated." })),
  passed: boolean({ description: "Whether it held." }),
  required: optional(boolean({ description: "Whether it had to hold." })),
  errorMessage: optional(string({ description: "Why it did not hold." })),
  evaluationTime: optional(dateTime({ description: "When it was evaluated." })),
});
export type ConditionResult = TypeOf<typeof conditionResult>;
