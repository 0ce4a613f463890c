import type { Plan, PlannedFault } from "./plan.ts";

/** The smallest plan that still fails: faults are taken away one by one, then made shorter, while the failure stays. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let smallest = plan;
  for (let index = 0; index < smallest.length; ) {
    const without = smallest.toSpliced(index, 1);
    if (await fails(without)) smallest = without;
    else index++;
  }
  for (const [index, fault] of smallest.entries()) {
    for (const milder of milderThan(fault)) {
      const tried = smallest.with(index, milder);
      if (!(await fails(tried))) continue;
      smallest = tried;
      break;
    }
  }
  return smallest;
}

function milderThan(fault: PlannedFault): readonly PlannedFault[] {
  if (fault.kind === "Wire" && fault.times > 1)
    return [1, 2, 5].filter((times) => times < fault.times).map((times) => ({ ...fault, times }));
  if ("forMs" in fault)
    return [1_000, 5_000, 12_000].filter((forMs) => forMs < fault.forMs).map((forMs) => ({ ...fault, forMs }));
  return [];
}
