import { deepEqual } from "../../kube/equality.ts";
import { type LabelSelector, labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import type { Store } from "../storage/store.ts";
import { clusterRoles, type PolicyRule, type Role } from "./rbac-objects.ts";

/** Keeps the rules of aggregated ClusterRoles equal to the union of the roles that their selectors match. */
export class RoleAggregation {
  readonly #store: Store;
  #stop: () => void = () => {};
  #stopped = false;

  constructor(store: Store) {
    this.#store = store;
  }

  start(): void {
    if (this.#stopped) return;
    const entries = this.#store.collection(clusterRoles).range();
    const all = entries.map(({ object }) => object as Role);
    for (const entry of entries) {
      const role = entry.object as Role;
      const rules = aggregatedRules(role, all);
      if (!rules || deepEqual(rules, role.rules ?? [])) continue;
      // A writer in between leads here again, through the announcement of his write.
      void this.#store.write(clusterRoles, entry.key, entry, { ...role, rules } as Role)?.catch(() => {});
    }
    this.#stop = this.#store.events(clusterRoles).onAnnounce(() => this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#stop();
  }
}

/** Undefined for a role that is not aggregated. */
export function aggregatedRules(role: Role, all: readonly Role[]): readonly PolicyRule[] | undefined {
  const selectors = role.aggregationRule?.clusterRoleSelectors;
  if (!selectors) return undefined;
  const rules: PolicyRule[] = [];
  for (const selector of selectors) {
    const requirements = labelSelectorRequirements(selector as LabelSelector);
    if (!requirements.ok) continue;
    for (const other of all) {
      if (other.metadata.name === role.metadata.name || !matchesLabels(requirements.value, other.metadata.labels))
        continue;
      for (const rule of other.rules ?? []) if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
