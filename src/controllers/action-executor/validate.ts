import type { ConditionResult } from "../../api/action-condition.ts";
import { Namespace, Node } from "../../api/builtin/cluster.ts";
import { ConfigMap } from "../../api/builtin/configuration.ts";
import { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { ExecutionStatus } from "../../api/kubernetes-execution-status.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { formatTime } from "../../kube/time.ts";
import type { ActContext } from "../../runtime/controller.ts";
import type { CheckAccess } from "./access.ts";
import { type AnyAction, actionDefinition } from "./actions/catalogue.ts";
import { type Target, type TargetState, targetText } from "./actions/definition.ts";
import { askersOf, type CheckAskers } from "./askers.ts";
import { type Change, type ConditionChange, failure } from "./change.ts";
import { type DryRunOutcome, dryRun } from "./dry-run.ts";
import type { Observation } from "./evaluate.ts";
import type { ExecutorMetrics } from "./metrics.ts";
import { demandAnnotations, policyConfigMap, serviceAccountOf, systemNamespace } from "./names.ts";
import { type CheckedParameters, checkParameters } from "./parameters.ts";
import type { EvaluateCondition } from "./policy/condition.ts";
import { conditionInput } from "./policy/condition-input.ts";
import { decide, unavailable, type Verdict } from "./policy/decide.ts";
import { policyInput, rateWindowSeconds } from "./policy/input.ts";
import type { Policies } from "./policy/policy-keeper.ts";
import { protectedProblems } from "./protected.ts";
import { readState } from "./target-state.ts";

export interface ValidationTools {
  readonly checkAccess: CheckAccess;
  readonly checkAskers: CheckAskers;
  readonly policies: (source: ConfigMap | undefined) => Policies;
  readonly evaluateCondition: EvaluateCondition;
  readonly metrics: ExecutorMetrics;
  readonly monotonicMs: () => number;
}

type Results = NonNullable<ExecutionStatus["validationResults"]>;
type Checked = Extract<CheckedParameters, { ok: true }>;

/** The six steps of validation, in their order; the first that says no ends it, and everything found so far is recorded. */
export async function validate(
  observation: Observation,
  context: ActContext<KubernetesExecution>,
  tools: ValidationTools,
): Promise<Change> {
  const { execution, settings, now } = observation;
  const time = formatTime(now);
  let results: Results = { validationTime: time };
  const no = (
    problems: readonly string[],
    more: Partial<Results>,
    conditions: readonly ConditionChange[] = [],
  ): Change => {
    results = { ...results, ...more, errors: problems };
    return invalid(problems.join("; "), { validationResults: results, validationTime: time }, conditions);
  };

  // 1. Parameters
  const checked = checkParameters(execution.spec as Parameters<typeof checkParameters>[0]);
  if (!checked.ok) return no(checked.problems, { parameterValidation: false });
  results = { ...results, parameterValidation: true };
  const definition = actionDefinition(checked.action);
  const target = definition.target(checked.parameters);

  // 2. Permissions, of the account that acts and of the people who ask
  const lacking = [
    ...(await tools.checkAccess(checked.action, target.namespace, context)),
    ...(await tools.checkAskers(execution, target.namespace, context)),
  ];
  if (lacking.length > 0) return no(lacking, { rbacValidation: false });
  results = { ...results, rbacValidation: true };

  // 3. The target: there, as expected, not out of bounds
  const state: TargetState =
    definition.seenBy === "Read"
      ? await readState(definition, target, checked.parameters, { client: context.live, signal: context.signal })
      : { related: [] };
  const problems = targetProblems(definition, target, state, checked, settings.protectedNamespaces);
  if (problems.length > 0) return no(problems, { resourceExists: false });
  results = { ...results, ...(definition.seenBy === "Read" && { resourceExists: true }) };

  // 4. Policies
  const verdict = askPolicies(observation, checked, target, state, context, tools);
  const { policyName, allowed, requiredApproval, requiredDryRun, violations } = verdict;
  results = { ...results, policyValidation: { policyName, allowed, requiredApproval, requiredDryRun, violations } };
  if (!allowed) {
    const denied = no(violations, {}, [
      {
        type: "PolicyViolation",
        status: "True",
        reason: verdict.available ? "SafetyPolicyDenied" : "PolicyUnavailable",
        message: violations.join("; "),
      },
    ]);
    const details = { violations, policyHash: verdict.policyHash };
    return { ...denied, audit: [{ key: "denied", verb: "deny", result: "Denied", details }] };
  }

  // 5. Dry run
  const wantsDryRun = requiredDryRun || definition.seenBy === "DryRun" || asks(execution, demandAnnotations.dryRun);
  const tried: DryRunOutcome = wantsDryRun
    ? await dryRun(observation, checked, state.object?.metadata.uid, context, tools)
    : { kind: "Passed", results: { performed: false } };
  if (tried.kind === "Waiting")
    return { phase: "validating", message: "A dry run is under way", lookAgainMs: tried.lookAgainMs };
  // A second look, just before the start, finds the dry run of the first.
  if (wantsDryRun && (execution.status?.phase ?? "validating") === "validating")
    tools.metrics.dryRun(checked.action, tried.kind === "Passed", dryRunSeconds(observation));
  results = { ...results, dryRunResults: tried.results };
  if (tried.kind === "Failed") return dryRunFailed(tried.message, { validationResults: results, validationTime: time });
  if (definition.seenBy === "DryRun") results = { ...results, resourceExists: true };

  // 6. Preconditions
  const input = conditionInput(checked.action, checked.parameters, target, state);
  const pre = judgeConditions(observation, input, tools);
  if (pre.kind === "Waiting")
    return {
      phase: execution.status?.phase ?? "validating",
      message: `Waiting for ${pre.waitingFor}`,
      lookAgainMs: pre.lookAgainMs,
    };
  if (pre.results.length > 0) results = { ...results, preConditionResults: pre.results };
  if (pre.kind === "Failed") return no([pre.message], {});

  return passed(observation, checked, results, definition.rollback(state, checked.parameters), {
    needsApproval: requiredApproval || asks(execution, demandAnnotations.approval),
    wantsDryRun,
    policyHash: verdict.policyHash,
    policyMessage:
      verdict.problem === undefined
        ? "No policy objects"
        : `No policy of the last good set objects; the one that was written is not in force: ${verdict.problem}`,
    target: targetText(target),
  });
}

/** From the Job's creation to our learning of its end. */
const dryRunSeconds = ({ dryRunJob, now }: Observation): number | undefined =>
  dryRunJob?.metadata.creationTimestamp === undefined
    ? undefined
    : Math.max(0, now.getTime() - new Date(dryRunJob.metadata.creationTimestamp).getTime()) / 1000;

function passed(
  { execution, now }: Observation,
  { action }: Checked,
  results: Results,
  rollbackInformation: NonNullable<ExecutionStatus["rollbackInformation"]>,
  found: {
    readonly needsApproval: boolean;
    readonly wantsDryRun: boolean;
    readonly policyHash: string;
    readonly policyMessage: string;
    readonly target: string;
  },
): Change {
  const phase = execution.status?.phase;
  // A second look, just before the start, changes the phase only when somebody must be asked after all.
  const again = phase === "validated" || phase === "waiting_approval";
  const next = found.needsApproval ? "waiting_approval" : again ? phase : "validated";
  const message = found.needsApproval
    ? `${action} of ${found.target} waits for approval`
    : `${action} of ${found.target} may run`;
  return {
    ...(next !== phase && { phase: next, message }),
    status: { validationResults: results, validationTime: formatTime(now), rollbackInformation },
    conditions: [
      {
        type: "Validated",
        status: "True",
        reason: "AllValidationsPassed",
        message: "Everything that was checked is fine",
      },
      { type: "PolicyViolation", status: "False", reason: "NoViolation", message: found.policyMessage },
      found.wantsDryRun
        ? { type: "DryRunCompleted", status: "True", reason: "ValidationSucceeded", message: "The dry run succeeded" }
        : { type: "DryRunCompleted", status: "False", reason: "NotRequired", message: "No dry run was asked for" },
      ...(phase === "waiting_approval"
        ? []
        : [
            found.needsApproval
              ? ({
                  type: "Approved",
                  status: "False",
                  reason: "WaitingForApproval",
                  message: "Somebody other than the requester must approve it",
                } as const)
              : ({
                  type: "Approved",
                  status: "True",
                  reason: "ApprovalNotRequired",
                  message: "No policy asks for an approval",
                } as const),
          ]),
    ],
    events: [
      ...(again
        ? []
        : [
            {
              type: "Normal" as const,
              reason: "ActionValidating" as const,
              message: `${action} of ${found.target} was validated`,
            },
          ]),
      ...(found.needsApproval && phase !== "waiting_approval"
        ? [{ type: "Normal" as const, reason: "ApprovalRequired" as const, message }]
        : []),
    ],
    audit: again
      ? []
      : [
          {
            key: "policy",
            verb: "evaluate",
            result: "Allowed",
            details: { policyHash: found.policyHash, target: found.target },
          },
        ],
    lookAgainMs: 0,
  };
}

function targetProblems(
  definition: AnyAction,
  target: Target,
  state: TargetState,
  { parameters }: Checked,
  protectedNamespaces: readonly string[],
): readonly string[] {
  // First of all: nobody is told by us what there is where they may not act.
  const bounds = protectedProblems(target, noPlan, protectedNamespaces);
  if (bounds.length > 0) return bounds;
  if (definition.seenBy === "Read" && state.object === undefined && !definition.mayCreate)
    return [`${targetText(target)} does not exist`];
  const objection = definition.seenBy === "Read" ? definition.objection?.(state, parameters) : undefined;
  if (objection !== undefined) return [`${targetText(target)}: ${objection}`];
  return protectedProblems(target, definition.plan(state, parameters, { startedAt: "" }), protectedNamespaces);
}

const noPlan = { effects: [], verb: "" };

function askPolicies(
  { execution, settings, now }: Observation,
  { action, parameters }: Checked,
  target: Target,
  state: TargetState,
  { read }: ActContext<KubernetesExecution>,
  { policies, metrics, monotonicMs }: ValidationTools,
): Verdict & Pick<Policies, "problem"> {
  const startedMs = monotonicMs();
  const told = <V extends Verdict>(verdict: V): V => {
    metrics.policy(action, verdict, (monotonicMs() - startedMs) / 1000);
    return verdict;
  };
  const source = read.get(ConfigMap, { namespace: systemNamespace, name: policyConfigMap });
  const { set, problem } = policies(source);
  if (set === undefined)
    return told(
      unavailable(
        `no safety policies are loaded: ${problem ?? `ConfigMap ${systemNamespace}/${policyConfigMap} is missing`}`,
      ),
    );
  const nodes = read.list(Node);
  // By index: going through all that ever ran, for each new one, would take longer with every one of them.
  const running = read.byIndex(KubernetesExecution, activeIndex, "yes");
  const since = now.getTime() - rateWindowSeconds * 1000;
  const key = targetKey(target);
  const namespace = target.namespace === undefined ? undefined : read.get(Namespace, { name: target.namespace });
  const verdict = decide(
    set,
    policyInput({
      action,
      parameters,
      target,
      state,
      namespaceLabels: namespace?.metadata.labels ?? {},
      execution,
      askers: askersOf(execution),
      serviceAccount: serviceAccountOf(action),
      permissions: actionDefinition(action).permissions,
      protectedNamespaces: settings.protectedNamespaces,
      clusterName: settings.clusterName ?? "",
      totalNodes: nodes.length,
      availableNodes: nodes.filter(({ spec }) => !spec.unschedulable).length,
      concurrentActions: running.filter(({ metadata }) => metadata.uid !== execution.metadata.uid).length,
      recentActions: read
        .byIndex(KubernetesExecution, targetIndex, key)
        .filter(({ metadata, status }) => metadata.uid !== execution.metadata.uid && startedAfter(status, since))
        .length,
    }),
  );
  return { ...told(verdict), ...(problem !== undefined && { problem }) };
}

const startedAfter = (status: ExecutionStatus | undefined, sinceMs: number): boolean =>
  new Date(status?.executionResults?.startTime ?? 0).getTime() > sinceMs;

/** An index of the executions that run now, under "yes". */
export const activeIndex = "active";

/** An index of executions by what they are about. */
export const targetIndex = "target";
export const targetKey = ({ kind, namespace, name }: Target): string => `${kind.kind}/${namespace ?? ""}/${name}`;
export function targetKeysOf({ spec }: KubernetesExecution): readonly string[] {
  const checked = checkParameters(spec as Parameters<typeof checkParameters>[0]);
  return checked.ok ? [targetKey(actionDefinition(checked.action).target(checked.parameters))] : [];
}

type Judged =
  | { readonly kind: "Held"; readonly results: readonly ConditionResult[] }
  | { readonly kind: "Failed"; readonly results: readonly ConditionResult[]; readonly message: string }
  | { readonly kind: "Waiting"; readonly waitingFor: string; readonly lookAgainMs: number };

function judgeConditions(
  { execution, now }: Observation,
  input: unknown,
  { evaluateCondition }: ValidationTools,
): Judged {
  const startedMs = new Date(execution.status?.phaseStartTime ?? now).getTime();
  // Only while it is being validated there is time to wait; just before the start a condition holds or it does not.
  const mayWait = execution.status?.phase === undefined || execution.status.phase === "validating";
  return judge("precondition", execution.spec.preConditions ?? [], input, {
    evaluateCondition,
    now,
    startedMs: mayWait ? startedMs : Number.NEGATIVE_INFINITY,
    defaultTimeoutMs: 30_000,
  });
}

export interface JudgeOptions {
  readonly evaluateCondition: EvaluateCondition;
  readonly now: Date;
  /** When waiting began. */
  readonly startedMs: number;
  readonly defaultTimeoutMs: number;
}

/** What became of each condition; waits for those that may still come true. */
export function judge(
  kind: "precondition" | "postcondition",
  conditions: NonNullable<KubernetesExecution["spec"]["preConditions"]>,
  input: unknown,
  { evaluateCondition, now, startedMs, defaultTimeoutMs }: JudgeOptions,
): Judged {
  const results: ConditionResult[] = [];
  const failures: string[] = [];
  for (const condition of conditions) {
    const verdict = evaluateCondition(kind, condition, input);
    const timeout = condition.timeout === undefined ? undefined : parseDurationMs(condition.timeout);
    const untilMs = startedMs + (timeout?.ok ? timeout.value : defaultTimeoutMs);
    if (verdict.kind === "NotMet" && now.getTime() < untilMs)
      return {
        kind: "Waiting",
        waitingFor: condition.type,
        lookAgainMs: Math.min(untilMs - now.getTime(), conditionLookMs),
      };
    const { required = true } = condition;
    results.push({
      conditionType: condition.type,
      evaluated: verdict.kind !== "Broken",
      passed: verdict.kind === "Met",
      required,
      ...(verdict.kind !== "Met" && { errorMessage: verdict.message }),
      evaluationTime: formatTime(now),
    });
    if (verdict.kind !== "Met" && required) failures.push(verdict.message);
  }
  return failures.length > 0 ? { kind: "Failed", results, message: failures.join("; ") } : { kind: "Held", results };
}

/** Targets that are watched bring us back sooner; this is for everything else that a condition may look at. */
const conditionLookMs = 5_000;

function invalid(
  message: string,
  status: NonNullable<Change["status"]>,
  conditions: readonly ConditionChange[],
): Change {
  const validated = { type: "Validated", status: "False", reason: "ValidationError", message } as const;
  return failure("validation_error", message, { status, conditions: [validated, ...conditions] });
}

function dryRunFailed(message: string, status: NonNullable<Change["status"]>): Change {
  return failure("dry_run_failed", message, {
    status,
    conditions: [
      { type: "Validated", status: "False", reason: "DryRunFailed", message },
      { type: "DryRunCompleted", status: "False", reason: "DryRunFailed", message },
    ],
  });
}

const asks = ({ metadata }: KubernetesExecution, annotation: string): boolean =>
  metadata.annotations?.[annotation] === "true";
