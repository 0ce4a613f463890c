import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Job } from "../../api/builtin/job.ts";
import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import {
  type Approval,
  type ExecutionPhase,
  type ExecutionStatus,
  executionPhases,
} from "../../api/kubernetes-execution-status.ts";
import { formatTime } from "../../kube/time.ts";
import { failure } from "./change.ts";
import { approvalOf, defaultSettings, evaluate, type Observation, type Step, timeoutMsOf } from "./evaluate.ts";
import { executionAnnotations, jobFinalizer } from "./names.ts";
import { edges, isTerminal, pathBetween } from "./phases.ts";
import { eventsOf, reduce } from "./reduce.ts";
import { specHashOf } from "./spec-hash.ts";

const now = new Date("2026-01-01T12:00:00Z");
const ago = (seconds: number): string => formatTime(new Date(now.getTime() - seconds * 1000));
const spec = {
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 5 } },
} as KubernetesExecution["spec"];

function execution(status: ExecutionStatus | undefined, more: object = {}, annotations = {}): KubernetesExecution {
  return {
    apiVersion: "kubernetesexecution.kubernaut.io/v1alpha1",
    kind: "KubernetesExecution",
    metadata: { name: "x", namespace: "shop", uid: "uid-1", generation: 1, annotations },
    spec: { ...spec, ...more },
    ...(status && { status }),
  } as KubernetesExecution;
}

function job(condition?: string, change: object = {}, reason = ""): Job {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: "j",
      uid: "job-1",
      finalizers: [jobFinalizer],
      annotations: { [executionAnnotations.uid]: "uid-1" },
      ...change,
    },
    spec: {},
    status: condition ? { conditions: [{ type: condition, status: "True", reason }] } : {},
  } as unknown as Job;
}
const strangersJob = job("Complete", { annotations: { [executionAnnotations.uid]: "somebody-else" } });

const approval = (change: Partial<Approval> = {}): Approval =>
  ({ decision: "Approved", by: "bob", at: ago(10), specHash: specHashOf(spec), ...change }) as Approval;
const asked = { "capstan.dev/requested-by": "alice" };

const step = (of: KubernetesExecution, more: Partial<Observation> = {}): Step =>
  evaluate({ execution: of, frozen: false, now, settings: { ...defaultSettings, image: "i" }, ...more });
/** The step in short: its kind and what else decides about it. */
function told(of: Step): string {
  if ("reason" in of) return `${of.kind} ${of.reason}`;
  if ("untilMs" in of) return `${of.kind} ${(of.untilMs - now.getTime()) / 1000}s`;
  if ("again" in of) return `${of.kind}${of.again ? " again" : ""}`;
  if ("as" in of) return `${of.kind} ${of.as}`;
  if ("jobs" in of) return `${of.kind} ${of.jobs.length}`;
  return of.kind;
}

type Case = readonly [name: string, got: Step, wanted: string];
const inPhase = (phase: ExecutionPhase, more: object = {}): ExecutionStatus =>
  ({ phase, phaseStartTime: ago(10), validationTime: ago(10), ...more }) as ExecutionStatus;
const waiting = (given: Approval | undefined, more: object = {}): KubernetesExecution =>
  execution(inPhase("waiting_approval", given && { approval: given }), more, asked);

const phases: Readonly<Record<ExecutionPhase | "new", readonly Case[]>> = {
  new: [
    ["is validated", step(execution(undefined)), "Validate"],
    ["is cancelled before anything", step(execution(undefined, { cancel: true })), "Cancel"],
    ["is validated while everything is frozen", step(execution(undefined), { frozen: true }), "Validate"],
  ],
  validating: [
    ["goes on validating", step(execution(inPhase("validating"))), "Validate"],
    ["can be cancelled", step(execution(inPhase("validating"), { cancel: true })), "Cancel"],
  ],
  validated: [
    ["starts", step(execution(inPhase("validated"))), "Start"],
    ["is held while everything is frozen", step(execution(inPhase("validated")), { frozen: true }), "Hold"],
    ["can be cancelled", step(execution(inPhase("validated"), { cancel: true })), "Cancel"],
    [
      "is looked at again when it waited too long",
      step(execution(inPhase("validated", { validationTime: ago(31) }))),
      "Validate again",
    ],
    [
      "is looked at again when nobody knows when it was validated",
      step(execution(inPhase("validated", { validationTime: undefined }))),
      "Validate again",
    ],
    [
      "H1: finds the Job that it made, and neither the switch nor a cancel makes a second one",
      step(execution(inPhase("validated", { validationTime: ago(99) }), { cancel: true }), {
        job: job(),
        frozen: true,
      }),
      "Start",
    ],
    ["is not taken in by somebody else's Job", step(execution(inPhase("validated")), { job: strangersJob }), "Start"],
  ],
  waiting_approval: [
    ["waits until the deadline", step(waiting(undefined)), "AwaitApproval 3590s"],
    [
      "gives up at the deadline",
      step(execution(inPhase("waiting_approval", { phaseStartTime: ago(3600) }))),
      "Fail approval_timeout",
    ],
    ["starts when somebody else has agreed", step(waiting(approval())), "Start"],
    ["is held while everything is frozen", step(waiting(approval()), { frozen: true }), "Hold"],
    [
      "is validated again when the word came late",
      step(execution(inPhase("waiting_approval", { approval: approval(), validationTime: ago(600) }), {}, asked)),
      "Validate again",
    ],
    [
      "F45: is validated again behind the word, whatever was found before",
      step(waiting(approval({ at: ago(5) }))),
      "Validate again",
    ],
    ["ends when it is rejected", step(waiting(approval({ decision: "Rejected" }))), "Fail approval_rejected"],
    ["S4: the requester's own word is none", step(waiting(approval({ by: "alice" }))), "AwaitApproval 3590s"],
    ["S5: a word about another spec is none", step(waiting(approval({ specHash: "0" }))), "AwaitApproval 3590s"],
    [
      "H4: a word about the spec before it was edited is none",
      step(
        waiting(approval(), {
          parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 50 } },
        }),
      ),
      "AwaitApproval 3590s",
    ],
    [
      "S5: a word from after the deadline is none",
      step(
        execution(
          inPhase("waiting_approval", { phaseStartTime: ago(4000), approval: approval({ at: ago(100) }) }),
          {},
          asked,
        ),
      ),
      "Fail approval_timeout",
    ],
    ["a word by nobody is none", step(waiting(approval({ by: "" }))), "AwaitApproval 3590s"],
    [
      "H3: spec.approvalReceived alone is nobody's word",
      step(waiting(undefined, { approvalReceived: true })),
      "AwaitApproval 3590s",
    ],
    [
      "spec.approvalReceived with the stamp of admission is its author's word",
      step(
        execution(
          inPhase("waiting_approval"),
          { approvalReceived: true },
          {
            ...asked,
            "capstan.dev/approved-by": "bob",
            "capstan.dev/approved-at": ago(10),
            "capstan.dev/approved-spec-hash": specHashOf(spec),
          },
        ),
      ),
      "Start",
    ],
    ["can be cancelled, agreed to or not", step(waiting(approval(), { cancel: true })), "Cancel"],
    ["H1: finds the Job that it made", step(waiting(undefined), { job: job() }), "Start"],
  ],
  executing: [
    ["waits for its Job", step(execution(inPhase("executing", { jobUID: "job-1" })), { job: job() }), "AwaitJob 350s"],
    [
      "verifies what has completed",
      step(execution(inPhase("executing", { jobUID: "job-1" })), { job: job("Complete") }),
      "Verify",
    ],
    [
      "has failed with its Job",
      step(execution(inPhase("executing", { jobUID: "job-1" })), { job: job("Failed") }),
      "JobFailed execution_failed",
    ],
    [
      "has timed out with its Job",
      step(execution(inPhase("executing", { jobUID: "job-1" })), { job: job("Failed", {}, "DeadlineExceeded") }),
      "JobFailed execution_timeout",
    ],
    [
      "F47: a success that races the deadline is a success",
      step(execution(inPhase("executing", { jobUID: "job-1" })), {
        job: {
          ...job(),
          status: {
            conditions: [
              { type: "Complete", status: "True" },
              { type: "Failed", status: "True", reason: "DeadlineExceeded" },
            ],
          },
        } as unknown as Job,
      }),
      "Verify",
    ],
    [
      "a Failed condition that is not true says nothing",
      step(execution(inPhase("executing", { jobUID: "job-1" })), {
        job: { ...job(), status: { conditions: [{ type: "Failed", status: "False" }] } } as unknown as Job,
      }),
      "AwaitJob 350s",
    ],
    [
      "gives up on a Job that nobody ends",
      step(execution(inPhase("executing", { jobUID: "job-1", phaseStartTime: ago(361) })), { job: job() }),
      "JobFailed execution_timeout",
    ],
    ["H1: has lost a Job that is gone", step(execution(inPhase("executing", { jobUID: "job-1" }))), "JobLost"],
    [
      "F5: has lost a Job that was replaced",
      step(execution(inPhase("executing", { jobUID: "job-1" })), { job: job("Complete", { uid: "job-2" }) }),
      "JobLost",
    ],
    [
      "can be cancelled while it runs",
      step(execution(inPhase("executing", { jobUID: "job-1" }), { cancel: true }), { job: job() }),
      "Cancel",
    ],
    [
      "cannot be cancelled any more once it has ended",
      step(execution(inPhase("executing", { jobUID: "job-1" }), { cancel: true }), { job: job("Complete") }),
      "Verify",
    ],
    [
      "is not stopped by the switch",
      step(execution(inPhase("executing", { jobUID: "job-1" })), { job: job(), frozen: true }),
      "AwaitJob 350s",
    ],
  ],
  rollback_ready: [
    ["keeps its way back", step(execution(inPhase("rollback_ready"))), "Keep 3590s"],
    [
      "lets its Jobs go first",
      step(execution(inPhase("rollback_ready"), {}, { "kubernaut.io/finalize": "completed" }), {
        job: job("Complete"),
        dryRunJob: job("Complete"),
      }),
      "Release 2",
    ],
    ["lets go of nobody else's Job", step(execution(inPhase("rollback_ready")), { job: strangersJob }), "Keep 3590s"],
    [
      "does what its parent says: completed",
      step(execution(inPhase("rollback_ready"), {}, { "kubernaut.io/finalize": "completed" })),
      "Finalize completed",
    ],
    [
      "does what its parent says: rolled back",
      step(execution(inPhase("rollback_ready"), {}, { "kubernaut.io/finalize": "rolled-back" })),
      "Finalize rolled-back",
    ],
    [
      "does not do what it does not understand",
      step(execution(inPhase("rollback_ready"), {}, { "kubernaut.io/finalize": "perhaps" })),
      "Keep 3590s",
    ],
    [
      "completes when nobody came",
      step(execution(inPhase("rollback_ready", { phaseStartTime: ago(3600) }))),
      "Finalize completed",
    ],
  ],
  completed: [
    ["does nothing any more", step(execution(inPhase("completed"), { cancel: true })), "Nothing"],
    ["lets its Job go", step(execution(inPhase("completed")), { job: job("Complete") }), "Release 1"],
    [
      "has let its Job go",
      step(execution(inPhase("completed")), { job: job("Complete", { finalizers: [] }) }),
      "Nothing",
    ],
  ],
  failed: [
    ["does nothing any more", step(execution(inPhase("failed"), { cancel: true })), "Nothing"],
    ["lets its Job go", step(execution(inPhase("failed")), { job: job("Failed") }), "Release 1"],
    ["a later approval does not wake it", step(execution(inPhase("failed", { approval: approval() }))), "Nothing"],
  ],
};

describe("what is done next", () => {
  for (const [phase, cases] of Object.entries(phases))
    describe(`an execution that is ${phase}`, () => {
      for (const [name, got, wanted] of cases) test(name, () => assert.equal(told(got), wanted));
    });
});

describe("approvals", () => {
  test("S5: nothing but another person's word about this very spec, in time, counts", (context) => {
    const deadlineMs = now.getTime();
    const bys = ["bob", "alice", ""];
    const hashes = [specHashOf(spec), "", "0".repeat(64), specHashOf({ ...spec, maxRetries: 1 })];
    const ats = [ago(10), ago(-1), "2099-01-01T00:00:00Z"];
    const decisions = ["Approved", "Rejected"] as const;
    let tried = 0;
    let counted = 0;
    for (const by of bys)
      for (const specHash of hashes)
        for (const at of ats)
          for (const decision of decisions) {
            tried++;
            const verdict = approvalOf(waiting(approval({ by, specHash, at, decision })), deadlineMs);
            if (verdict.kind !== "Approved") continue;
            counted++;
            assert.deepEqual([by, specHash, at, decision], ["bob", specHashOf(spec), ago(10), "Approved"]);
          }
    assert.equal(counted, 1);
    context.diagnostic(`S5: ${tried} words, ${counted} counts`);
  });

  test("the hash covers all that decides what will run, and not the word itself", () => {
    const same = specHashOf(spec);
    assert.equal(specHashOf({ ...spec, approvalReceived: true, cancel: true }), same);
    const changes: readonly object[] = [
      { action: "rollout_restart" },
      { parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 6 } } },
      { maxRetries: 3 },
      { timeout: "1m" },
      { targetNamespace: "other" },
      { resourceName: "other" },
      { postConditions: [{ type: "a", rego: "package postcondition" }] },
      { preConditions: [{ type: "a", rego: "package precondition" }] },
      { stepNumber: 2 },
    ];
    for (const change of changes) assert.notEqual(specHashOf({ ...spec, ...change } as never), same);
  });
});

describe("timeouts", () => {
  const cases: readonly (readonly [string | undefined, number])[] = [
    [undefined, 300_000],
    ["90s", 90_000],
    ["2h", 900_000],
    ["0s", 1_000],
    ["1ms", 1_000],
    ["rubbish", 1_000],
  ];
  for (const [timeout, ms] of cases)
    test(`${timeout ?? "none"} is ${ms} ms`, () => assert.equal(timeoutMsOf(execution(undefined, { timeout })), ms));
});

describe("P13: phases", () => {
  const all: readonly (ExecutionPhase | undefined)[] = [undefined, ...executionPhases];

  test("are entered along declared edges only, and terminal ones are never left", () => {
    let ways = 0;
    for (const from of all)
      for (const to of executionPhases) {
        if (from === to) continue;
        let path: readonly ExecutionPhase[] | undefined;
        try {
          path = pathBetween(from, to);
        } catch {
          path = undefined;
        }
        if (isTerminal(from)) assert.equal(path, undefined, `${from} cannot be left`);
        if (path === undefined) continue;
        ways++;
        let at: ExecutionPhase | "" = from ?? "";
        for (const phase of path) {
          assert.ok(edges[at].includes(phase), `${at} -> ${phase}`);
          at = phase;
        }
        assert.equal(at, to);
      }
    assert.equal(ways, 27);
    assert.throws(() => pathBetween("executing", "validating"));
    assert.throws(() => pathBetween("rollback_ready", "executing"));
  });

  test("a change that would leave a terminal phase is a bug, not a status", () => {
    assert.throws(() => reduce(execution(inPhase("completed")), failure("cancelled", "no"), now));
  });

  test("whatever happens in whatever order, the status only ever moves on", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...executionPhases), { maxLength: 12 }), (wishes) => {
        let current = execution(undefined);
        for (const phase of wishes) {
          const before = current.status?.phase;
          let status: ExecutionStatus;
          try {
            status = reduce(current, { phase }, now);
          } catch {
            continue;
          }
          if (before !== undefined && before !== phase) assert.ok(pathBetween(before, phase).length > 0);
          assert.equal(status.observedGeneration, 1);
          assert.equal(status.completionTime !== undefined, isTerminal(phase));
          current = { ...current, status };
        }
      }),
    );
  });

  test("every phase that is entered has its event, those that are passed through too", () => {
    const reasons = eventsOf(execution(undefined), { phase: "validated" }).map(({ message }) => message);
    assert.deepEqual(reasons, ["scale_deployment was asked for", "new -> validating", "validating -> validated"]);
    assert.deepEqual(eventsOf(execution(inPhase("executing")), { message: "still" }), []);
  });
});
