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
  const refusals: readonly (readonly [string, string, object, RegExp])[] = [
    ["an action without a counterpart", "update_image", {}, /the action "update_image" has no counterpart/],
    ["a name of JavaScript's own", "__proto__", {}, /has no counterpart/],
    ["the parameters of another action", "drain_node", { custom: {} }, /parameters.custom does not belong/],
    ["no parameters", "drain_node", {}, /parameters.drainNode is required/],
    ["a list", "drain_node", { drainNode: [] }, /must be an object/],
    [
      "a text for a number",
      "scale_deployment",
      { scaleDeployment: { deployment: "web", namespace: "shop", replicas: "three" } },
      /parameters.scaleDeployment.replicas: .*must be of type integer/,
    ],
    [
      "a number out of bounds",
      "scale_deployment",
      { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 1001 } },
      /replicas.*less than or equal to 1000/,
    ],
    ["a missing field", "cordon_node", { cordonNode: {} }, /parameters.cordonNode.node: Required value/],
    [
      "a field that nobody knows",
      "delete_pod",
      { deletePod: { podName: "a", namespace: "b", labelSelector: "all" } },
      /parameters.deletePod.labelSelector: unknown field/,
    ],
    [
      "the same thing twice",
      "delete_pod",
      { deletePod: { podName: "a", pod: "b", namespace: "c" } },
      /say the same thing twice/,
    ],
  ];
  for (const [name, action, parameters, why] of refusals)
    test(`${name} is refused`, () => {
      const read = translateStep(action, parameters as Readonly<Record<string, unknown>>);
      assert.match(read.ok ? "it was understood" : read.message, why);
    });
  test("a refused secret is not quoted", () => {
    const read = translateStep("update_secret", { updateSecret: { name: "a", namespace: "b", dataUpdates: "canary" } });
    assert.equal(read.ok, false);
    assert.doesNotMatch(JSON.stringify(read), /canary/);
  });
});
