import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorkflowStep } from "../../api/workflow-step.ts";
import { planSteps } from "./plan.ts";
import { translateStep } from "./step-parameters.ts";

const step = (stepNumber: number, dependsOn?: readonly number[]): WorkflowStep => ({
  stepNumber,
  action: "cordon_node",
  criticalStep: true,
  parameters: { cordonNode: { node: "a" } },
  ...(dependsOn && { dependsOn }),
});
const waits = (steps: readonly WorkflowStep[], dependencies = {}): unknown => {
  const plan = planSteps(steps, dependencies);
  return plan.ok ? [plan.value.strategy, plan.value.steps.map(({ waitsFor }) => waitsFor)] : plan.message;
};

describe("the order of steps", () => {
  const cases: readonly (readonly [string, unknown, unknown])[] = [
    ["without names, one follows the other", waits([step(2), step(1), step(3)]), ["sequential", [[], [1], [2]]]],
    [
      "with names, only they count",
      waits([step(1), step(2), step(3, [1, 2])]),
      ["sequential-with-parallel", [[], [], [1, 2]]],
    ],
    ["the workflow's own list counts too", waits([step(1), step(2)], { "2": ["1"] }), ["sequential", [[], [1]]]],
    ["a step that is not there is refused", waits([step(1, [7])]), "step 1 depends on step 7, which is not there"],
    [
      "a circle is refused",
      waits([step(1, [2]), step(2, [1])]),
      "step 1 depends on itself, by way of others or directly",
    ],
    ["two steps of one number are refused", waits([step(1), step(1)]), "two steps have the same number"],
  ];
  for (const [name, got, wanted] of cases) test(name, () => assert.deepEqual(got, wanted));
});

describe("older names", () => {
  const cases: readonly (readonly [string, object, unknown])[] = [
    [
      "drain_node",
      { drainNode: { nodeName: "a", gracePeriodSeconds: 3 } },
      { action: "drain_node", parameters: { drainNode: { node: "a", gracePeriodSeconds: 3 } } },
    ],
    [
      "restart_deployment",
      { restartDeployment: { name: "web", namespace: "shop" } },
      { action: "rollout_restart", parameters: { rolloutRestart: { deployment: "web", namespace: "shop" } } },
    ],
    [
      "update_configmap",
      { updateConfigMap: { name: "a", namespace: "b", dataUpdates: { x: "1" } } },
      {
        action: "update_configmap",
        parameters: { updateConfigMap: { configMap: "a", namespace: "b", data: { x: "1" } } },
      },
    ],
    [
      "ScaleDeployment",
      { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 2 } },
      {
        action: "scale_deployment",
        parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 2 } },
      },
    ],
  ];
  for (const [action, parameters, wanted] of cases)
    test(`${action} is understood`, () =>
      assert.deepEqual(translateStep(action, parameters as Readonly<Record<string, unknown>>), {
        ok: true,
        value: wanted,
      }));
  test("what has no counterpart is refused", () => {
    assert.equal(translateStep("update_image", {}).ok, false);
    assert.equal(translateStep("drain_node", { custom: {} }).ok, false);
    assert.equal(translateStep("__proto__", {}).ok, false);
  });
});
