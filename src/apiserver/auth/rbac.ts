import type { User } from "../parts.ts";
import { storageKey } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import type { Attributes, Decision } from "./attributes.ts";
import {
  type Binding,
  clusterRoleBindings,
  clusterRoles,
  type PolicyRule,
  type Role,
  type RoleRef,
  roleBindings,
  roles,
  type Subject,
} from "./rbac-objects.ts";
import { ruleAllows } from "./rules.ts";

/** A rule that a user has, and which binding gives it. */
export interface GrantedRule {
  readonly rule: PolicyRule;
  readonly describe: () => string;
}

/** Role-based access control over the stored roles and bindings. Members of system:masters may do everything. */
export class RbacAuthorizer {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  authorize(attributes: Attributes): Decision {
    if (attributes.user.groups.includes("system:masters")) return { allowed: true, reason: "" };
    const errors: string[] = [];
    const namespace = attributes.kind === "Resource" ? attributes.namespace : "";
    for (const { rule, describe } of this.rulesFor(attributes.user, namespace, errors)) {
      if (ruleAllows(rule, attributes)) return { allowed: true, reason: `RBAC: allowed by ${describe()}` };
    }
    return { allowed: false, reason: errors.length === 0 ? "" : `RBAC: ${formatErrors(errors)}` };
  }

  /** All rules of a user in a namespace; what cannot be resolved is reported in `errors`. */
  *rulesFor(user: User, namespace: string, errors: string[]): Generator<GrantedRule> {
    for (const { object } of this.#store.collection(clusterRoleBindings).range()) {
      yield* this.#rulesOf(object as Binding, user, "", errors);
    }
    if (namespace === "") return;
    for (const { object } of this.#store.collection(roleBindings).range(`${namespace}/`)) {
      yield* this.#rulesOf(object as Binding, user, namespace, errors);
    }
  }

  /** The rules behind a reference; undefined when there is no such role. */
  rulesOfRole({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const [collection, key] = kind === "Role" ? [roles, storageKey(namespace, name)] : [clusterRoles, name];
    const role = this.#store.get(collection, key)?.object as Role | undefined;
    return role && (role.rules ?? []);
  }

  *#rulesOf(binding: Binding, user: User, namespace: string, errors: string[]): Generator<GrantedRule> {
    const subject = (binding.subjects ?? []).find((each) => isSubject(each, user, namespace));
    if (!subject) return;
    const { roleRef } = binding;
    const found = this.rulesOfRole(roleRef, namespace);
    if (!found) {
      errors.push(`${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(roleRef.name)} not found`);
      return;
    }
    const describe = (): string => describeGrant(binding, subject, namespace);
    for (const rule of found) yield { rule, describe };
  }
}

function isSubject({ kind, name, namespace }: Subject, user: User, bindingNamespace: string): boolean {
  switch (kind) {
    case "User":
      return name === user.name;
    case "Group":
      return user.groups.includes(name);
    case "ServiceAccount": {
      const home = namespace ?? bindingNamespace;
      return home !== "" && user.name === `system:serviceaccount:${home}:${name}`;
    }
    default:
      return false;
  }
}

function describeGrant({ metadata, roleRef }: Binding, subject: Subject, namespace: string): string {
  const [kind, name] =
    namespace === "" ? ["ClusterRoleBinding", metadata.name] : ["RoleBinding", `${metadata.name}/${namespace}`];
  const who = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace ?? namespace}` : subject.name;
  return `${kind} ${JSON.stringify(name)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(who)}`;
}

function formatErrors(errors: readonly string[]): string {
  const all = [...new Set(errors)];
  return all.length === 1 ? (all[0] ?? "") : `[${all.join(", ")}]`;
}
