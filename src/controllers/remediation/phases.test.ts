import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { actionMembers, actions } from "../../api/action.ts";
import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { RemediationRequest } from "../../api/remediation-request.ts";
import type { WorkflowExecution } from "../../api/workflow-execution.ts";
import { type Decision, evaluate, type Observation } from "./evaluate.ts";
import { eventsOf } from "./reduce.ts";

const now = new Date("2026-01-01T12:00:00Z");
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString().replace(".000", "");
const step = (stepNumber: number, more: object = {}) => ({
  stepNumber,
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: stepNumber } },
  ...more,
});

function remediation(spec: object, status: object = {}): RemediationRequest {
  return { metadata: { name: "r", namespace: "shop" }, spec, status } as unknown as RemediationRequest;
}

/** An execution in short: its phase, and how it went. */
function execution(name: string, phase: string | undefined, status: object = {}): [string, KubernetesExecution] {
  const rollbackInformation = {
    available: true,
    rollbackAction: "scale_deployment",
    rollbackParameters: {
      scaleToPrevious: { deployment: "web", namespace: "shop", previousReplicas: 3 },
      deployment: "web",
      namespace: "shop",
      replicas: 3,
    },
  };
  const value = { metadata: { name }, spec: {}, status: { ...(phase && { phase }), rollbackInformation, ...status } };
  return [name, value as unknown as KubernetesExecution];
}

const decide = (
  spec: object,
  executions: readonly [string, KubernetesExecution][] = [],
  more: Partial<Observation> = {},
): Decision =>
  evaluate({
    remediation: remediation(spec, { overallPhase: "executing", startTime: ago(10) }),
    executions: new Map(executions),
    coolDownMs: 60_000,
    now,
    ...more,
  });

/** A decision in short. */
const told = ({ phase, complete, accepted, create, finalize, cancel, steps }: Decision): string =>
  [
    phase,
    complete ?? accepted ?? "",
    steps.map(({ state }) => state).join(),
    create.map(({ name }) => `+${name}`).join(),
    finalize.map(({ execution: of, as }) => `${of.metadata.name}=${as}`).join(),
    cancel.map(({ metadata }) => `-${metadata.name}`).join(),
  ]
    .filter((part) => part !== "")
    .join(" ");

const two = { steps: [step(1), step(2)] };
const parallel = { steps: [step(1), step(2), step(3, { dependsOn: [1, 2] })] };
const isNew = { remediation: remediation(two) };

const cases: readonly (readonly [name: string, decision: Decision, wanted: string])[] = [
  ["without steps it waits for them", decide({}, [], { remediation: remediation({}) }), "pending WaitingForSteps"],
  ["an empty list is no list", decide({}, [], { remediation: remediation({ steps: [] }) }), "pending WaitingForSteps"],
  [
    "a signal that was seen before is left to the remediation that deals with it",
    decide({}, [], { remediation: remediation({ ...two, deduplication: { isDuplicate: true } }) }),
    "skipped Skipped",
  ],
  [
    "a workflow that is taken away stops what it began",
    decide({}, [execution("r-step-1", "rollback_ready"), execution("r-step-2", "executing")], {
      remediation: remediation(
        {},
        {
          overallPhase: "executing",
          stepStatuses: [
            { stepNumber: 1, action: "scale_deployment", status: "completed" },
            { stepNumber: 2, action: "scale_deployment", status: "executing" },
            { stepNumber: 3, action: "scale_deployment", status: "pending" },
          ],
        },
      ),
    }),
    "failed StepFailed completed,failed,skipped -r-step-2",
  ],
  ["steps that cannot be run fail at once", decide({ steps: [step(1), step(1)] }), "failed StepFailed"],
  [
    "it waits while another one is active for its target",
    decide(two, [], { ...isNew, busyWith: "first" }),
    "pending TargetBusy",
  ],
  [
    "it waits while its target rests",
    decide(two, [], { ...isNew, lastEndedMs: now.getTime() - 1_000 }),
    "pending CoolingDown",
  ],
  [
    "a target that has rested is free",
    decide(two, [], { ...isNew, lastEndedMs: now.getTime() - 60_000 }),
    "executing InProgress pending,pending +r-step-1",
  ],
  [
    "one that has begun does not stop for another",
    decide(two, [execution("r-step-1", "executing")], { busyWith: "first", lastEndedMs: now.getTime() }),
    "executing InProgress executing,pending",
  ],
  ["the first step is created", decide(two), "executing InProgress pending,pending +r-step-1"],
  [
    "a step waits for the one before it",
    decide(two, [execution("r-step-1", "waiting_approval")]),
    "executing InProgress executing,pending",
  ],
  [
    "an execution that nobody has looked at yet runs already",
    decide(two, [execution("r-step-1", undefined)]),
    "executing InProgress executing,pending",
  ],
  [
    "a step that can be undone is done",
    decide(two, [execution("r-step-1", "rollback_ready")]),
    "executing InProgress completed,pending +r-step-2",
  ],
  [
    "steps without a common dependency run side by side",
    decide(parallel),
    "executing InProgress pending,pending,pending +r-step-1,+r-step-2",
  ],
  [
    "F20: what was created before is not created again",
    decide(parallel, [execution("r-step-1", undefined)]),
    "executing InProgress executing,pending,pending +r-step-2",
  ],
  [
    "all dependencies must be done",
    decide(parallel, [execution("r-step-1", "completed"), execution("r-step-2", "executing")]),
    "executing InProgress completed,executing,pending",
  ],
  [
    "at the end everything is finalised that waits for it",
    decide(two, [execution("r-step-1", "rollback_ready"), execution("r-step-2", "completed")]),
    "completed Succeeded completed,completed r-step-1=completed",
  ],
  [
    "a critical step that fails ends it, and what is left is skipped",
    decide(two, [execution("r-step-1", "failed", { reason: "validation_error" })]),
    "failed StepFailed failed,skipped",
  ],
  [
    "a required postcondition that failed is a failed step",
    decide(two, [execution("r-step-1", "rollback_ready", { executionResults: { success: false } })]),
    "failed StepFailed failed,skipped r-step-1=completed",
  ],
  [
    "a step that is not critical may fail",
    decide({ steps: [step(1, { criticalStep: false }), step(2)] }, [execution("r-step-1", "failed")]),
    "executing InProgress failed,pending +r-step-2",
  ],
  [
    "a failure waits for what still runs beside it",
    decide({ ...parallel, rollbackOnFailure: true }, [
      execution("r-step-1", "failed"),
      execution("r-step-2", "executing"),
    ]),
    "executing InProgress failed,executing,skipped",
  ],
  [
    "what was done is undone, the last first",
    decide({ steps: [step(1), step(2), step(3)], rollbackOnFailure: true }, [
      execution("r-step-1", "rollback_ready"),
      execution("r-step-2", "rollback_ready"),
      execution("r-step-3", "failed"),
    ]),
    "executing InProgress completed,completed,failed +r-step-2-rollback",
  ],
  [
    "the next one is undone when the one before it is",
    decide({ steps: [step(1), step(2), step(3)], rollbackOnFailure: true }, [
      execution("r-step-1", "rollback_ready"),
      execution("r-step-2", "rollback_ready"),
      execution("r-step-3", "failed"),
      execution("r-step-2-rollback", "rollback_ready"),
    ]),
    "executing InProgress completed,completed,failed +r-step-1-rollback",
  ],
  [
    "an undoing that runs is waited for",
    decide({ ...two, rollbackOnFailure: true }, [
      execution("r-step-1", "rollback_ready"),
      execution("r-step-2", "failed"),
      execution("r-step-1-rollback", "executing"),
    ]),
    "executing InProgress completed,failed",
  ],
  [
    "all undone is rolled back, and every execution gets its word",
    decide({ ...two, rollbackOnFailure: true }, [
      execution("r-step-1", "rollback_ready"),
      execution("r-step-2", "failed"),
      execution("r-step-1-rollback", "rollback_ready"),
    ]),
    "rolled_back RolledBack rolled_back,failed r-step-1=rolled-back,r-step-1-rollback=completed",
  ],
  [
    "the failed step is undone too where its effect is there",
    decide({ ...two, rollbackOnFailure: true }, [
      execution("r-step-1", "completed", { rollbackInformation: { available: false } }),
      execution("r-step-2", "rollback_ready", { executionResults: { success: false } }),
    ]),
    "executing InProgress completed,failed +r-step-2-rollback",
  ],
  [
    "an undoing that fails is said",
    decide({ ...two, rollbackOnFailure: true }, [
      execution("r-step-1", "rollback_ready"),
      execution("r-step-2", "failed"),
      execution("r-step-1-rollback", "failed"),
    ]),
    "failed RollbackFailed completed,failed",
  ],
  [
    "nothing to undo is a failure",
    decide({ ...two, rollbackOnFailure: true }, [execution("r-step-1", "failed")]),
    "failed StepFailed failed,skipped",
  ],
  [
    "time runs out: what runs is cancelled, what waits is skipped",
    decide(two, [execution("r-step-1", "executing")], {
      remediation: remediation(two, { overallPhase: "executing", startTime: ago(1801) }),
    }),
    "timed_out TimedOut failed,skipped -r-step-1",
  ],
  [
    "its own limit counts",
    decide({ ...two, timeoutConfig: { workflowExecutionTimeout: "5s" } }, [execution("r-step-1", "executing")]),
    "timed_out TimedOut failed,skipped -r-step-1",
  ],
  ...(["completed", "failed", "timed_out", "rolled_back", "skipped"] as const).map(
    (overallPhase) =>
      [
        `what is ${overallPhase} stays so`,
        decide(two, [execution("r-step-1", "failed")], { remediation: remediation(two, { overallPhase }) }),
        overallPhase,
      ] as const,
  ),
];

describe("what a remediation does next", () => {
  for (const [name, decision, wanted] of cases) test(name, () => assert.equal(told(decision), wanted));

  test("an undoing is told when it begins, and when it fails", () => {
    const undone = { ...two, rollbackOnFailure: true };
    const before = remediation(undone, {
      overallPhase: "executing",
      stepStatuses: [
        { stepNumber: 1, action: "scale_deployment", status: "completed" },
        { stepNumber: 2, action: "scale_deployment", status: "failed" },
      ],
    });
    const ran = [execution("r-step-1", "rollback_ready"), execution("r-step-2", "failed")];
    const eventsAfter = (...more: [string, KubernetesExecution][]): readonly string[] =>
      eventsOf(before, decide(undone, [...ran, ...more])).map(({ reason, message }) => `${reason}: ${message}`);
    assert.deepEqual(eventsAfter(), ["RollbackStarted: Step 1: scale_deployment as r-step-1-rollback"]);
    assert.deepEqual(eventsAfter(execution("r-step-1-rollback", "executing")), []);
    const both = "Step 2 has failed: ; undoing step 1 has failed too: no";
    assert.deepEqual(eventsAfter(execution("r-step-1-rollback", "failed", { message: "no" })), [
      `RollbackFailed: ${both}`,
      `RemediationFailed: ${both}`,
    ]);
  });

  test("a workflow's strategy decides about undoing where the request does not", () => {
    const workflow = {
      spec: { workflowDefinition: { steps: two.steps }, executionStrategy: { rollbackStrategy: "automatic" } },
    } as unknown as WorkflowExecution;
    const decision = decide({}, [execution("r-step-1", "rollback_ready"), execution("r-step-2", "failed")], {
      workflow,
    });
    assert.equal(told(decision), "executing InProgress completed,failed +r-step-1-rollback");
  });

  test("what was captured is what is undone, for every action that can be", () => {
    for (const action of actions) {
      const rollbackInformation = { available: true, rollbackAction: action, rollbackParameters: { a: 1 } };
      const decision = decide({ ...two, rollbackOnFailure: true }, [
        execution("r-step-1", "rollback_ready", { rollbackInformation }),
        execution("r-step-2", "failed"),
      ]);
      assert.deepEqual(decision.create[0]?.run, { action, parameters: { [actionMembers[action]]: { a: 1 } } });
    }
  });
});
