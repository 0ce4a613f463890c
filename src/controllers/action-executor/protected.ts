import type { KubeObject } from "../../kube/object.ts";
import type { Plan, Target } from "./actions/definition.ts";
import { jobNamespace, systemNamespace } from "./names.ts";

export const alwaysProtected: readonly string[] = [
  "kube-system",
  "kube-public",
  "kube-node-lease",
  systemNamespace,
  jobNamespace,
];

/** Why the target, or anything else that the plan would change, is out of bounds (S10); whatever the policies say. */
export function protectedProblems(target: Target, plan: Plan, configured: readonly string[]): readonly string[] {
  const bounds = new Set([...alwaysProtected, ...configured]);
  const touched: readonly (readonly [namespace: string | undefined, what: string])[] = [
    [target.namespace, `${target.kind.kind} ${target.name}`],
    ...(plan.also ?? []).map(({ namespace, kind, name }) => [namespace, `${kind} ${name}`] as const),
    ...plan.effects.flatMap((effect) =>
      "object" in effect ? [[namespaceOf(effect.object), effect.object.kind] as const] : [],
    ),
  ];
  return touched
    .filter(([namespace]) => namespace !== undefined && bounds.has(namespace))
    .map(([namespace, what]) => `${what} is in the protected namespace ${namespace}`);
}

const namespaceOf = ({ metadata }: KubeObject): string | undefined => metadata.namespace;
