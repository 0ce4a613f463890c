import type { Attributes } from "./attributes.ts";
import type { PolicyRule } from "./rbac-objects.ts";

/** Whether one rule allows one request. */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if (attributes.kind === "Path") return (rule.nonResourceURLs ?? []).some((url) => pathMatches(url, attributes.path));
  const { group, resource, subresource, name } = attributes;
  return (
    hasOrAll(rule.apiGroups ?? [], group) &&
    resourceMatches(rule.resources ?? [], resource, subresource) &&
    ((rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(name))
  );
}

const hasOrAll = (values: readonly string[], value: string): boolean => values.includes("*") || values.includes(value);

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  if (resources.includes("*")) return true;
  if (subresource === "") return resources.includes(resource);
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

const pathMatches = (url: string, path: string): boolean =>
  url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)));

/** The rules of `wanted` that nothing in `held` covers: what a user who may only give what he has must not give. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(atoms).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

/** A rule as the smallest rules that mean the same: one verb, one group, one resource, one name. */
function atoms(rule: PolicyRule): readonly PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const forResources = verbs.flatMap((verb) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource): readonly PolicyRule[] => {
        const atom = { verbs: [verb], apiGroups: [group], resources: [resource] };
        return resourceNames.length === 0 ? [atom] : resourceNames.map((name) => ({ ...atom, resourceNames: [name] }));
      }),
    ),
  );
  const forPaths = verbs.flatMap((verb) => nonResourceURLs.map((url) => ({ verbs: [verb], nonResourceURLs: [url] })));
  return [...forResources, ...forPaths];
}

function covers(rule: PolicyRule, atom: PolicyRule): boolean {
  const [verb = ""] = atom.verbs;
  if (!hasOrAll(rule.verbs, verb)) return false;
  const [url] = atom.nonResourceURLs ?? [];
  if (url !== undefined) return (rule.nonResourceURLs ?? []).some((held) => pathMatches(held, url));
  const [group = ""] = atom.apiGroups ?? [];
  const [resource = ""] = atom.resources ?? [];
  const [name] = atom.resourceNames ?? [];
  const { resources = [], resourceNames = [] } = rule;
  const slash = resource.indexOf("/");
  const isResourceHeld =
    resources.includes("*") ||
    resources.includes(resource) ||
    (slash >= 0 && resources.includes(`*/${resource.slice(slash + 1)}`));
  const isNameHeld = resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name));
  return hasOrAll(rule.apiGroups ?? [], group) && isResourceHeld && isNameHeld;
}

/** A rule as the real server prints it in a refusal. */
export function formatRule(rule: PolicyRule): string {
  const parts = [
    ["NonResourceURLs", rule.nonResourceURLs],
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ] as const;
  const shown = parts.flatMap(([name, values]) =>
    values && values.length > 0 ? [`${name}:[${values.map((value) => JSON.stringify(value)).join(" ")}]`] : [],
  );
  return `{${shown.join(", ")}}`;
}
