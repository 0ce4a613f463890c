import type { WorkflowStep } from "../../api/workflow-step.ts";
import { type Parsed, parsed, refused } from "../../kube/parsed.ts";
import { type StepAction, translateStep } from "./step-parameters.ts";

/** A step as it will be run. */
export interface PlannedStep {
  readonly step: WorkflowStep;
  readonly run: StepAction;
  /** How to undo it, where the workflow says so itself. */
  readonly undo?: StepAction;
  /** The steps that must have completed before. */
  readonly waitsFor: readonly number[];
}

export interface StepPlan {
  readonly steps: readonly PlannedStep[];
  readonly strategy: "sequential" | "parallel" | "sequential-with-parallel";
}

/**
 * The order of steps. One that names no others runs after the step before it, unless some step of the workflow names
 * dependencies: then the names are the order, and a step without any may start at once.
 */
export function planSteps(
  steps: readonly WorkflowStep[],
  dependencies: Readonly<Record<string, readonly (string | number)[]>> = {},
): Parsed<StepPlan> {
  const sorted = steps.toSorted((a, b) => a.stepNumber - b.stepNumber);
  const numbers = sorted.map(({ stepNumber }) => stepNumber);
  if (new Set(numbers).size !== numbers.length) return refused("two steps have the same number");
  const named = new Map(
    sorted.map(({ stepNumber, dependsOn = [] }) => [
      stepNumber,
      [...new Set([...dependsOn, ...(dependencies[String(stepNumber)] ?? []).map(Number)])],
    ]),
  );
  const isNamed = [...named.values()].some((list) => list.length > 0);
  const planned: PlannedStep[] = [];
  for (const [position, step] of sorted.entries()) {
    const where = `step ${step.stepNumber}`;
    if (step.targetCluster) return refused(`${where}: targetCluster must be empty`);
    const run = translateStep(step.action, step.parameters as Readonly<Record<string, unknown>> | undefined);
    if (!run.ok) return refused(`${where}: ${run.message}`);
    const undo =
      step.rollbackSpec &&
      translateStep(
        step.rollbackSpec.action,
        step.rollbackSpec.parameters as Readonly<Record<string, unknown>> | undefined,
      );
    if (undo && !undo.ok) return refused(`${where}: rollbackSpec: ${undo.message}`);
    const before = numbers[position - 1];
    const waitsFor = isNamed ? (named.get(step.stepNumber) ?? []) : before === undefined ? [] : [before];
    const missing = waitsFor.find((number) => !numbers.includes(number));
    if (missing !== undefined) return refused(`${where} depends on step ${missing}, which is not there`);
    planned.push({ step, run: run.value, waitsFor, ...(undo?.ok && { undo: undo.value }) });
  }
  const circle = circleIn(planned);
  if (circle !== undefined) return refused(`step ${circle} depends on itself, by way of others or directly`);
  const roots = planned.filter(({ waitsFor }) => waitsFor.length === 0).length;
  const chained = planned.every(({ waitsFor }, index) => index === 0 || waitsFor.includes(numbers[index - 1] ?? 0));
  const strategy = chained ? "sequential" : roots === planned.length ? "parallel" : "sequential-with-parallel";
  return parsed({ steps: planned, strategy });
}

function circleIn(steps: readonly PlannedStep[]): number | undefined {
  const done = new Set<number>();
  let left = steps;
  while (left.length > 0) {
    const ready = left.filter(({ waitsFor }) => waitsFor.every((number) => done.has(number)));
    if (ready.length === 0) return left[0]?.step.stepNumber;
    for (const { step } of ready) done.add(step.stepNumber);
    left = left.filter(({ step }) => !done.has(step.stepNumber));
  }
  return undefined;
}
