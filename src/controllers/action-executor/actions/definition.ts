import type { Action, ParametersOf } from "../../../api/action.ts";
import type { ExecutionStatus } from "../../../api/kubernetes-execution-status.ts";
import type { Patch } from "../../../client/client.ts";
import type { KindRef } from "../../../kube/kind.ts";
import type { KubeObject } from "../../../kube/object.ts";
import type { Permission } from "../../../runtime/permission.ts";

/**
 * One action, wholly described: what it may touch, what it needs, what it changes and how that is undone. Everything in
 * here is pure; effect.ts carries it out, and the RBAC of its ServiceAccount is generated from `permissions`.
 */
export interface ActionDefinition<A extends Action = Action, T extends KubeObject = KubeObject> {
  readonly action: A;
  /** All that its ServiceAccount may do, and no more than it does. */
  readonly permissions: readonly Permission[];
  /** Whether it may run again after it was interrupted; only then are retries allowed. */
  readonly idempotent: boolean;
  /** How long it usually takes. */
  readonly estimatedDuration: string;
  /**
   * How the target is looked at before anything runs: `Read` by the executor, `DryRun` by a validation Job under the
   * action's own ServiceAccount where the executor itself may not look (the content of Secrets).
   */
  readonly seenBy: "Read" | "DryRun";
  /** Whether the target need not be there yet. */
  readonly mayCreate?: boolean;
  /** What is wrong with the parameters beyond what the schema says. */
  problems?(parameters: ParametersOf<A>): readonly string[];
  /** Only asked when the parameters have no problem. */
  target(parameters: ParametersOf<A>): Target<T>;
  /** Other objects that the plan depends on; none for some parameters. */
  related?(parameters: ParametersOf<A>, object: T): RelatedObjects | undefined;
  /** Why the target is not in the state that the action expects. */
  objection?(state: TargetState<T>, parameters: ParametersOf<A>): string | undefined;
  plan(state: TargetState<T>, parameters: ParametersOf<A>, order: OrderFacts): Plan;
  /** Asked before anything is changed. */
  rollback(state: TargetState<T>, parameters: ParametersOf<A>): Rollback;
}

export interface Target<T extends KubeObject = KubeObject> {
  readonly kind: KindRef<T>;
  readonly namespace?: string;
  readonly name: string;
}

export interface RelatedObjects {
  readonly kind: KindRef;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface TargetState<T extends KubeObject = KubeObject> {
  /** Absent where it may not be there yet, or may not be read. */
  readonly object?: T;
  readonly related: readonly KubeObject[];
}

/** What was fixed before the action started, so that a second start decides the same. */
export interface OrderFacts {
  readonly startedAt: string;
}

export interface Plan {
  readonly effects: readonly Effect[];
  /** What it does to the target, for people. */
  readonly verb: string;
  readonly before?: string;
  readonly after?: string;
  /** Other objects that are changed on the way. */
  readonly also?: readonly PlannedChange[];
  readonly replicasChanged?: string;
}

export interface PlannedChange {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly action: string;
}

/** Everything that an action can do to a cluster. */
export type Effect =
  /** `isPart`: it is not all of it, so that a token on the target would say too much; `Stamp` comes behind the last part. */
  | { readonly kind: "Patch"; readonly patch: Patch; readonly isPart?: true }
  | { readonly kind: "Stamp" }
  | { readonly kind: "Delete"; readonly gracePeriodSeconds?: number }
  | { readonly kind: "Apply"; readonly object: KubeObject }
  | { readonly kind: "Create"; readonly of: KindRef; readonly object: KubeObject }
  | { readonly kind: "Evict"; readonly pods: readonly KubeObject[]; readonly gracePeriodSeconds?: number };

export type Rollback = NonNullable<ExecutionStatus["rollbackInformation"]>;

export const cannotBeUndone = (description: string): Rollback => ({
  available: false,
  rollbackParameters: { custom: { description, parameters: {} } },
});

/** Checks the definition's types; they are forgotten in the catalogue, where only the matching parameters are given. */
export const defineAction = <A extends Action, T extends KubeObject>(
  definition: ActionDefinition<A, T>,
): ActionDefinition<A, T> => definition;

export const targetText = ({ kind, namespace, name }: Target): string =>
  `${kind.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
