import type { Node } from "../../api/builtin/cluster.ts";
import type { PodSpec } from "../../api/builtin/pod-spec.ts";
import { type LabelOperator, labelRequirement, matchesLabels } from "../../kube/label-selector.ts";

interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[];
  readonly matchFields?: readonly NodeRequirement[];
}

interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
    };
  };
}

/** Whether a pod may run on this node: its selector, and one of the terms of its required affinity. */
export function wantsNode({ nodeSelector = {}, affinity }: PodSpec, { metadata }: Node): boolean {
  const { labels = {} } = metadata;
  if (Object.entries(nodeSelector).some(([key, value]) => labels[key] !== value)) return false;
  const required = (affinity as Affinity | undefined)?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some((term) =>
    matchesTerm(term, labels, { "metadata.name": metadata.name }),
  );
}

type Values = Readonly<Record<string, string>>;

/** A term that asks for nothing selects nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, labels: Values, fields: Values) {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((one) => matchesLabel(one, labels)) && matchFields.every((one) => matchesField(one, fields))
  );
}

const signs: Readonly<Record<string, LabelOperator>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: ">",
  Lt: "<",
};

function matchesLabel({ key, operator, values = [] }: NodeRequirement, labels: Values): boolean {
  const sign = signs[operator];
  const requirement = sign && labelRequirement(key, sign, values);
  return requirement?.ok === true && matchesLabels([requirement.value], labels);
}

/** Of a node's fields only the name can be asked for. */
function matchesField({ key, operator, values = [] }: NodeRequirement, fields: Values): boolean {
  const isOne = values.includes(fields[key] ?? "");
  return operator === "In" ? isOne : operator === "NotIn" && !isOne;
}
