import type { KindRef } from "../kube/kind.ts";

/** One thing that a controller may do, in the words of a PolicyRule. RBAC is generated from these. */
export interface Permission {
  readonly group: string;
  /** `pods`, or with a sub-resource `pods/status`. */
  readonly resource: string;
  readonly verbs: readonly Verb[];
}

export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection"
  | "bind"
  | "escalate"
  | "impersonate";

export function allow(
  kind: Pick<KindRef, "group" | "plural">,
  verbs: readonly Verb[],
  subresource?: string,
): Permission {
  return { group: kind.group, resource: subresource ? `${kind.plural}/${subresource}` : kind.plural, verbs };
}

/** One entry per resource, verbs without repetition, everything sorted. */
export function mergePermissions(permissions: readonly Permission[]): readonly Permission[] {
  const merged = new Map<string, { group: string; resource: string; verbs: Set<Verb> }>();
  for (const { group, resource, verbs } of permissions) {
    const id = `${group}/${resource}`;
    const entry = merged.get(id) ?? { group, resource, verbs: new Set<Verb>() };
    for (const verb of verbs) entry.verbs.add(verb);
    merged.set(id, entry);
  }
  return [...merged.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { group, resource, verbs }]) => ({ group, resource, verbs: [...verbs].sort() }));
}

/** What was used although nobody declared it. */
export function undeclared(used: readonly Permission[], declared: readonly Permission[]): readonly Permission[] {
  const allowed = new Map(
    mergePermissions(declared).map(({ group, resource, verbs }) => [`${group}/${resource}`, verbs]),
  );
  return mergePermissions(used)
    .map((permission) => ({
      ...permission,
      verbs: permission.verbs.filter(
        (verb) => !allowed.get(`${permission.group}/${permission.resource}`)?.includes(verb),
      ),
    }))
    .filter(({ verbs }) => verbs.length > 0);
}
