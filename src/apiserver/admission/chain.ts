import type { KubeObject } from "../../kube/object.ts";
import type { Admission, AdmissionQuestion } from "./admission.ts";

/** Several gates, one after the other; each sees what those before it made of the object. */
export function admissionChain(gates: readonly Admission[]): Admission {
  return {
    mutate(question) {
      return mutateFrom(gates, 0, question);
    },
    validate(question) {
      return validateFrom(gates, 0, question);
    },
  };
}

/** Goes on in the same turn as long as no gate has to wait: most writes meet none that does. */
function mutateFrom(
  gates: readonly Admission[],
  start: number,
  question: AdmissionQuestion,
): Promise<KubeObject | undefined> | KubeObject | undefined {
  let current = question;
  for (let index = start; index < gates.length; index++) {
    const answer = gates[index]?.mutate(current);
    if (answer instanceof Promise) {
      return answer.then((object) => mutateFrom(gates, index + 1, object ? { ...current, object } : current));
    }
    if (answer) current = { ...current, object: answer };
  }
  return current.object;
}

function validateFrom(gates: readonly Admission[], start: number, question: AdmissionQuestion): Promise<void> | void {
  for (let index = start; index < gates.length; index++) {
    const answer = gates[index]?.validate(question);
    if (answer instanceof Promise) return answer.then(() => validateFrom(gates, index + 1, question));
  }
}
