import type { KubeObject } from "../object.ts";

/** One condition on the objects that a quota counts. */
export interface ScopeSelector {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface ScopedSpec {
  readonly scopes?: readonly string[];
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeSelector[] };
}

/** A plain scope is a condition that it holds. */
export const selectorsOf = ({ scopes = [], scopeSelector }: ScopedSpec): readonly ScopeSelector[] => [
  ...scopes.map((scopeName) => ({ scopeName, operator: "Exists" })),
  ...(scopeSelector?.matchExpressions ?? []),
];

type Scoped = KubeObject & {
  readonly spec?: {
    readonly activeDeadlineSeconds?: number;
    readonly priorityClassName?: string;
    readonly affinity?: { readonly podAffinity?: Affinity; readonly podAntiAffinity?: Affinity };
    readonly volumeAttributesClassName?: string;
  };
  readonly status?: {
    readonly qosClass?: string;
    readonly currentVolumeAttributesClassName?: string;
    readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string };
  };
};

interface Affinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly AffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly { readonly podAffinityTerm?: AffinityTerm }[];
}

interface AffinityTerm {
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: unknown;
}

export function podMatchesScope(selector: ScopeSelector, pod: Scoped): boolean {
  switch (selector.scopeName) {
    case "Terminating":
      return isShortLived(pod);
    case "NotTerminating":
      return !isShortLived(pod);
    case "BestEffort":
      return pod.status?.qosClass === "BestEffort";
    case "NotBestEffort":
      return pod.status?.qosClass !== "BestEffort";
    case "PriorityClass":
      return selects(selector, namesIn([pod.spec?.priorityClassName]));
    case "CrossNamespacePodAffinity":
      return looksIntoOtherNamespaces(pod);
    default:
      return false;
  }
}

export const claimMatchesScope = (selector: ScopeSelector, { spec, status }: Scoped): boolean =>
  selector.scopeName === "VolumeAttributesClass" &&
  selects(
    selector,
    namesIn([
      spec?.volumeAttributesClassName,
      status?.currentVolumeAttributesClassName,
      status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
    ]),
  );

/** A pod that ends by itself, sooner or later. */
export const isShortLived = ({ spec }: Scoped): boolean => (spec?.activeDeadlineSeconds ?? -1) >= 0;

const namesIn = (names: readonly (string | undefined)[]): readonly string[] => names.filter((name) => name) as string[];

/** As label selectors do it: what is not there is not in any list. */
function selects({ operator, values = [] }: ScopeSelector, names: readonly string[]): boolean {
  switch (operator) {
    case "In":
      return names.some((name) => values.includes(name));
    case "NotIn":
      return names.length === 0 || names.some((name) => !values.includes(name));
    case "Exists":
      return names.length > 0;
    case "DoesNotExist":
      return names.length === 0;
    default:
      return false;
  }
}

const looksIntoOtherNamespaces = ({ spec }: Scoped): boolean =>
  [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity]
    .flatMap((affinity) => [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm = {} }) => podAffinityTerm,
      ),
    ])
    .some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined);
