import type { KubeObject } from "../object.ts";
import { compareQuantities } from "../quantity.ts";
import type { Measure, MeasuredWrite } from "./measure.ts";
import { addResources, formatResources, keepResources, type ResourceList, surplusOf } from "./resource-list.ts";
import { type ScopeSelector, selectorsOf } from "./scopes.ts";

/** A quota as it stands: what it allows and what is used, both as its status tells them. */
export interface StandingQuota {
  readonly name: string;
  readonly spec: Parameters<typeof selectorsOf>[0];
  readonly hard: ResourceList;
  readonly used: ResourceList;
}

export type QuotaVerdict =
  | { readonly kind: "Refused"; readonly message: string }
  /** What is used afterwards, by the name of the quota; those that stay as they are are left out. */
  | { readonly kind: "Charged"; readonly used: ReadonlyMap<string, ResourceList> };

/** Whether a write fits into all quotas of its namespace, and what it makes of them; in the words of kube-apiserver. */
export function checkQuotas(
  quotas: readonly StandingQuota[],
  measure: Measure,
  write: MeasuredWrite,
  now: Date,
): QuotaVerdict {
  if (!measure.isConcerned(write)) return unchanged;
  const concerned = quotas.filter((quota) => counts(quota, measure, write.object));
  for (const { name, hard, used } of concerned) {
    const names = measure.matching(hard.keys());
    const missing = measure.missing?.(names, write.object);
    if (missing !== undefined) return refused(`failed quota: ${name}: ${missing}`);
    if (names.some((resource) => !used.has(resource))) {
      return refused(`status unknown for quota: ${name}, resources: ${names.toSorted().join(",")}`);
    }
  }
  if (concerned.length === 0) return unchanged;
  const usage = measure.usage(write.object, now);
  const negative = [...keepResources(usage, (_, { nanos }) => nanos < 0n).keys()];
  if (negative.length > 0) {
    return refused(`quota usage is negative for resource(s): ${negative.toSorted().join(",")}`);
  }
  const charged = new Map<string, ResourceList>();
  for (const quota of concerned) {
    const more = additional(quota, measure, write, usage, now);
    if (more.size === 0) continue;
    const used = addResources(quota.used, more);
    const exceeded = write.subresource === "status" ? none : exceeding(more, used, quota.hard);
    if (exceeded.size > 0) return refused(excess(quota, more, exceeded));
    charged.set(quota.name, used);
  }
  return { kind: "Charged", used: charged };
}

/** Whether a quota counts this object at all. */
export function counts({ spec, hard }: StandingQuota, measure: Measure, object: KubeObject): boolean {
  const isInScope = (selector: ScopeSelector): boolean => measure.matchesScope(selector, object);
  return measure.matching(hard.keys()).length > 0 && selectorsOf(spec).every(isInScope);
}

/** What the write uses more than before, of what the quota limits. */
function additional(
  quota: StandingQuota,
  measure: Measure,
  { old }: MeasuredWrite,
  usage: ResourceList,
  now: Date,
): ResourceList {
  const wasCounted = old !== undefined && counts(quota, measure, old);
  const more = wasCounted ? surplusOf(usage, measure.usage(old, now)) : usage;
  return keepResources(more, (name, { nanos }) => nanos !== 0n && quota.hard.has(name));
}

function exceeding(more: ResourceList, used: ResourceList, hard: ResourceList): ReadonlySet<string> {
  const exceeded = new Set<string>();
  for (const name of more.keys()) {
    const [is, may] = [used.get(name), hard.get(name)];
    if (is && may && compareQuantities(is, may) > 0) exceeded.add(name);
  }
  return exceeded;
}

function excess({ name, used, hard }: StandingQuota, more: ResourceList, exceeded: ReadonlySet<string>): string {
  const tell = (list: ResourceList): string =>
    formatResources(keepResources(list, (resource) => exceeded.has(resource)));
  return `exceeded quota: ${name}, requested: ${tell(more)}, used: ${tell(used)}, limited: ${tell(hard)}`;
}

const none: ReadonlySet<string> = new Set();
const unchanged: QuotaVerdict = { kind: "Charged", used: new Map() };
const refused = (message: string): QuotaVerdict => ({ kind: "Refused", message });
