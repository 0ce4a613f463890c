import type { Namespace } from "../../api/builtin/cluster.ts";
import { findCondition } from "../../kube/condition.ts";
import type { KubeObject } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import type { ServedResource } from "../garbage-collector/served-resources.ts";

export interface Remaining {
  readonly resource: ServedResource;
  readonly objects: readonly KubeObject[];
}

type Conditions = NonNullable<NonNullable<Namespace["status"]>["conditions"]>;

/** Why a namespace that is being deleted is still there. */
export function namespaceConditions(
  before: Conditions | undefined,
  remaining: readonly Remaining[],
  now: Date,
): Conditions {
  const counts = remaining.map(
    ({ resource, objects }) => `${resource.plural}.${resource.group} has ${objects.length} resource instances`,
  );
  const finalizers = new Map<string, number>();
  for (const { metadata } of remaining.flatMap(({ objects }) => objects)) {
    for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
  }
  const held = [...finalizers].sort().map(([name, count]) => `${name} in ${count} resource instances`);
  const claims: readonly (readonly [string, boolean, string, string])[] = [
    ["NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered"],
    [
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ],
    [
      "NamespaceDeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ],
    counts.length > 0
      ? [
          "NamespaceContentRemaining",
          true,
          "SomeResourcesRemain",
          `Some resources are remaining: ${counts.sort().join(", ")}`,
        ]
      : ["NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"],
    held.length > 0
      ? [
          "NamespaceFinalizersRemaining",
          true,
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${held.join(", ")}`,
        ]
      : ["NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
  ];
  return claims.map(([type, holds, reason, message]) => {
    const old = findCondition(before, type);
    const status = holds ? "True" : "False";
    const lastTransitionTime = (old?.status === status ? old.lastTransitionTime : undefined) ?? formatTime(now);
    return { type, status, lastTransitionTime, reason, message };
  });
}
