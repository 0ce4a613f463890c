import type { Node } from "../../api/builtin/cluster.ts";
import type { Pod } from "../../api/builtin/pod.ts";
import {
  type LabelSelector,
  type LabelSelectorExpression,
  type Labels,
  labelSelectorRequirements,
  matchesLabels,
} from "../../kube/label-selector.ts";

/** Where pods run, and what their namespaces are labelled with. */
export interface Placement {
  readonly nodes: readonly Node[];
  podsOn(node: string): readonly Pod[];
  namespaceLabels(namespace: string): Labels | undefined;
}

interface Term {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

interface Affinity {
  readonly podAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly Term[] };
  readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly Term[] };
}

const affinityOf = ({ spec }: Pod): Affinity => (spec.affinity ?? {}) as Affinity;
const attracted = (pod: Pod): readonly Term[] =>
  affinityOf(pod).podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? none;
const repelled = (pod: Pod): readonly Term[] =>
  affinityOf(pod).podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? none;
const none: readonly Term[] = [];

/** Why other pods keep a pod from a node, in the scheduler's words. */
export function podAffinityObjection(pod: Pod, node: Node, placement: Placement): string | undefined {
  if (!isNearAll(pod, node, placement)) return "node(s) didn't match pod affinity rules";
  const isRepelled = repelled(pod).some((term) =>
    around(node, term.topologyKey, placement).some((other) => selects(term, pod, other, placement)),
  );
  if (isRepelled) return "node(s) didn't match pod anti-affinity rules";
  return isUnwelcome(pod, node, placement) ? "node(s) didn't satisfy existing pods anti-affinity rules" : undefined;
}

/** Most pods repel nobody, and there may be many of them. */
function isUnwelcome(pod: Pod, node: Node, placement: Placement): boolean {
  for (const { metadata } of placement.nodes) {
    for (const other of placement.podsOn(metadata.name)) {
      const terms = repelled(other).filter((term) => selects(term, other, pod, placement));
      if (terms.some(({ topologyKey }) => around(node, topologyKey, placement).includes(other))) return true;
    }
  }
  return false;
}

/**
 * Near, for each term, a pod that all terms select. The first of a group that wants to be together would wait for ever:
 * where nobody is selected anywhere, a pod that its own terms select may go first.
 */
function isNearAll(pod: Pod, node: Node, placement: Placement): boolean {
  const terms = attracted(pod);
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => node.metadata.labels?.[topologyKey] === undefined)) return false;
  const isSelected = (other: Pod): boolean => terms.every((term) => selects(term, pod, other, placement));
  if (terms.every(({ topologyKey }) => around(node, topologyKey, placement).some(isSelected))) return true;
  const isNobodySelected = !placement.nodes.some(({ metadata }) => placement.podsOn(metadata.name).some(isSelected));
  return isNobodySelected && isSelected(pod);
}

/** The pods of all nodes that have the same value of the key as this one. */
function around({ metadata }: Node, topologyKey: string, { nodes, podsOn }: Placement): readonly Pod[] {
  const value = metadata.labels?.[topologyKey];
  if (value === undefined) return [];
  return nodes
    .filter((other) => other.metadata.labels?.[topologyKey] === value)
    .flatMap((other) => podsOn(other.metadata.name));
}

/** Whether a term of one pod speaks of the other. */
function selects(term: Term, owner: Pod, other: Pod, { namespaceLabels }: Placement): boolean {
  const namespace = other.metadata.namespace ?? "";
  const { namespaces = [], namespaceSelector } = term;
  const isNamed =
    namespaces.includes(namespace) ||
    (namespaceSelector === undefined
      ? namespaces.length === 0 && namespace === owner.metadata.namespace
      : matches(namespaceSelector, namespaceLabels(namespace)));
  return isNamed && matches(withKeys(term, owner), other.metadata.labels);
}

/** Labels that are to be the same as the owner's own, or other ones. */
function withKeys(term: Term, { metadata: { labels = {} } }: Pod): LabelSelector | undefined {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return undefined;
  const like = (keys: readonly string[], operator: string): readonly LabelSelectorExpression[] =>
    keys.flatMap((key) => (labels[key] === undefined ? [] : [{ key, operator, values: [labels[key]] }]));
  return {
    ...labelSelector,
    matchExpressions: [
      ...(labelSelector.matchExpressions ?? []),
      ...like(matchLabelKeys, "In"),
      ...like(mismatchLabelKeys, "NotIn"),
    ],
  };
}

function matches(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  const requirements = labelSelectorRequirements(selector);
  return requirements.ok && matchesLabels(requirements.value, labels);
}
