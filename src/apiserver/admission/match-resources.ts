import { type LabelSelector, labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import type { Store } from "../storage/store.ts";
import type { AdmissionQuestion } from "./admission.ts";

/** Which requests a policy, a binding or a webhook is about. */
export interface ResourceRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
}

export interface MatchResources {
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchPolicy?: string;
}

export function matchesResources(
  store: Store,
  match: MatchResources | undefined,
  question: AdmissionQuestion,
): boolean {
  if (!match) return true;
  const isEquivalent = match.matchPolicy !== "Exact";
  if ((match.excludeResourceRules ?? []).some((rule) => matchesRule(rule, question, isEquivalent))) return false;
  // Without rules the selectors alone decide: a binding narrows its policy.
  const rules = match.resourceRules ?? [];
  if (rules.length > 0 && !rules.some((rule) => matchesRule(rule, question, isEquivalent))) return false;
  return matchesNamespace(store, match.namespaceSelector, question) && matchesObject(match.objectSelector, question);
}

/** An equivalent match takes any version of a resource: a rule for v1 also guards writes through v1beta1. */
export function matchesRule(rule: ResourceRule, question: AdmissionQuestion, isEquivalent = true): boolean {
  const { endpoint, operation, subresource, name } = question;
  const { group, version, namespaced } = endpoint.resource;
  const { apiGroups = [], apiVersions = [], operations = [], resourceNames = [], scope = "*" } = rule;
  const versions = [
    version,
    ...(isEquivalent ? endpoint.otherVersions.map(({ apiVersion }) => apiVersion.split("/").at(-1) ?? "") : []),
  ];
  return (
    hasOrAll(operations, operation) &&
    hasOrAll(apiGroups, group) &&
    versions.some((each) => hasOrAll(apiVersions, each)) &&
    matchesResource(rule.resources ?? [], endpoint.resource.plural, subresource) &&
    (resourceNames.length === 0 || resourceNames.includes(name)) &&
    (scope === "*" || (scope === "Namespaced") === namespaced)
  );
}

const hasOrAll = (values: readonly string[], value: string): boolean => values.includes("*") || values.includes(value);

/** `pods`, `pods/status`, `pods/*`, `*`, `* / *`: a star without a slash means resources, not their sub-resources. */
function matchesResource(resources: readonly string[], plural: string, subresource: string): boolean {
  return resources.some((resource) => {
    const [wanted, wantedSub = ""] = resource.split("/");
    if (wanted !== "*" && wanted !== plural) return false;
    return wantedSub === "*" || wantedSub === subresource;
  });
}

/** A namespace is judged by its own labels; what lives in no namespace always matches. */
function matchesNamespace(store: Store, selector: LabelSelector | undefined, question: AdmissionQuestion): boolean {
  if (!selector || isEmpty(selector)) return true;
  const isNamespace = question.endpoint.collection === "namespaces";
  if (!isNamespace && question.namespace === "") return true;
  const labels = isNamespace
    ? (question.object ?? question.oldObject)?.metadata.labels
    : store.get("namespaces", question.namespace)?.object.metadata.labels;
  return matches(selector, labels);
}

function matchesObject(selector: LabelSelector | undefined, { object, oldObject }: AdmissionQuestion): boolean {
  if (!selector || isEmpty(selector)) return true;
  return [object, oldObject].some((each) => each !== undefined && matches(selector, each.metadata.labels));
}

const isEmpty = ({ matchLabels, matchExpressions }: LabelSelector): boolean =>
  Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0;

function matches(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  const requirements = labelSelectorRequirements(selector);
  return requirements.ok && matchesLabels(requirements.value, labels);
}
