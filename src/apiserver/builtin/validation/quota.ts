import { type FieldError, invalid, required } from "../../../kube/field-error.ts";
import { goJson } from "../../../kube/go-text.ts";
import { child, type Draft, entries, items, strings, text } from "../draft.ts";
import { immutableMessage } from "../object-meta.ts";
import { isExtended, isQuotaHugePage, quotaNames, read, resourceNameErrors } from "./quantities.ts";
import { type Errors, invalidText, notNegative } from "./rules.ts";

/** ResourceQuota: names that can be counted, amounts that make sense, and scopes that fit them. */
export function validateQuota(quota: Draft): Errors {
  const spec = child(quota, "spec");
  const names = entries(spec, "hard").map(([name]) => name);
  return [
    ...amountErrors(spec, "hard", "spec"),
    ...plainScopeErrors(strings(spec, "scopes"), names),
    ...selectorErrors(spec, names),
  ];
}

export const validateQuotaStatus = ({ status }: Draft): Errors => [
  ...amountErrors(status as Draft, "hard", "status"),
  ...amountErrors(status as Draft, "used", "status"),
];

export function validateQuotaUpdate(quota: Draft, old: Draft): Errors {
  const scopes = strings(child(quota, "spec"), "scopes");
  const before = new Set(strings(child(old, "spec"), "scopes"));
  const isSame = before.symmetricDifference(new Set(scopes)).size === 0;
  return isSame ? [] : [invalid("spec.scopes", scopes.length === 0 ? null : scopes, immutableMessage)];
}

const amountErrors = (holder: Draft | undefined, field: string, path: string): Errors =>
  entries(holder, field).flatMap(([name, amount]) => {
    const at = `${path}.${field}[${name}]`;
    return [...quotaNameErrors(name, at), ...quantityErrors(name, amount, at)];
  });

function quotaNameErrors(name: string, path: string): Errors {
  const errors = resourceNameErrors(name, path);
  if (name.includes("/") || isQuotaName(name)) return errors;
  return [...errors, invalid(path, name, "must be a standard resource for quota")];
}

const isQuotaName = (name: string): boolean => quotaNames.has(name) || isQuotaHugePage(name);

const isCountedInUnits = (name: string): boolean =>
  isExtended(name) || (quotaNames.has(name) && !/^(cpu|memory|ephemeral-storage|(requests|limits)\..*)$/.test(name));

function quantityErrors(name: string, amount: unknown, path: string): Errors {
  const { nanos } = read(amount);
  const isWhole = nanos % 1_000_000_000n === 0n;
  return [
    ...(nanos < 0n ? [invalid(path, amount, notNegative)] : []),
    ...(isCountedInUnits(name) && !isWhole ? [invalid(path, amount, "must be an integer")] : []),
  ];
}

const podNames: ReadonlySet<string> = new Set([
  ...["pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"],
]);
const claimNames: ReadonlySet<string> = new Set(["persistentvolumeclaims", "requests.storage"]);

/** Which of the names without a domain each scope may go with. */
const scopes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Terminating", podNames],
  ["NotTerminating", podNames],
  ["BestEffort", new Set(["pods"])],
  ["NotBestEffort", podNames],
  ["PriorityClass", podNames],
  ["CrossNamespacePodAffinity", podNames],
  ["VolumeAttributesClass", claimNames],
]);

const misfits = (scope: string, names: readonly string[]): readonly string[] =>
  names.filter((name) => isQuotaName(name) && scopes.get(scope)?.has(name) === false);

const opposites = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

const contradictions = (given: readonly string[]): number =>
  opposites.filter((pair) => pair.every((scope) => given.includes(scope))).length;

function plainScopeErrors(given: readonly string[], names: readonly string[]): Errors {
  const wrong = (detail: string): FieldError => invalid("spec.scopes", given, detail);
  return [
    ...given.flatMap((scope) => [
      ...(scopes.has(scope) ? [] : [wrong("unsupported scope")]),
      ...misfits(scope, names).map(() => wrong("unsupported scope applied to resource")),
    ]),
    ...Array.from({ length: contradictions(given) }, () => wrong("conflicting scopes")),
  ];
}

const path = "spec.scopeSelector.matchExpressions";
const mustExist =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const withoutValues: ReadonlySet<string> = new Set([
  ...["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"],
]);

function selectorErrors(spec: Draft | undefined, names: readonly string[]): Errors {
  const selector = child(spec, "scopeSelector");
  const requirements = items(selector, "matchExpressions");
  const given = requirements.map((requirement) => text(requirement, "scopeName"));
  const plain = strings(spec, "scopes");
  return [
    ...requirements.flatMap((requirement) => {
      const scope = text(requirement, "scopeName");
      const operator = text(requirement, "operator");
      return [
        ...(scopes.has(scope) ? [] : [invalid(`${path}.scopeName`, scope, "unsupported scope")]),
        ...misfits(scope, names).map(() =>
          invalidText(path, innerForm(requirements), "unsupported scope applied to resource"),
        ),
        ...(withoutValues.has(scope) && operator !== "Exists"
          ? [invalid(`${path}.operator`, operator, mustExist)]
          : []),
        ...valueErrors(operator, strings(requirement, "values")),
      ];
    }),
    // The real server shows the plain scopes here, which are mostly none.
    ...Array.from({ length: contradictions(given) }, () =>
      invalid(path, plain.length === 0 ? null : plain, "conflicting scopes"),
    ),
  ];
}

function valueErrors(operator: string, values: readonly string[]): Errors {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0
        ? []
        : [
            required(
              `${path}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          ];
    case "Exists":
    case "DoesNotExist":
      return values.length === 0
        ? []
        : [
            invalid(
              `${path}.values`,
              values,
              "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
          ];
    default:
      return [invalid(`${path}.operator`, operator, "not a valid selector operator")];
  }
}

/** The selector as the real server holds it inside, its fields in the order of their type. */
function innerForm(requirements: readonly Draft[]): string {
  const inner = requirements.map((requirement) => {
    const values = strings(requirement, "values");
    const [scope, operator] = [text(requirement, "scopeName"), text(requirement, "operator")].map(goJson);
    return `{"ScopeName":${scope},"Operator":${operator},"Values":${values.length === 0 ? "null" : goJson(values)}}`;
  });
  return `{"MatchExpressions":[${inner.join(",")}]}`;
}
