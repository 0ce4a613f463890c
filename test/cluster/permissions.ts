import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { KubeObject } from "../../src/kube/object.ts";
import { usedPermissions } from "./audit-log.ts";
import { acceptedReason } from "./unused-permissions.ts";
import type { ClusterWorld } from "./world.ts";

interface Rules extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}
interface Binding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string }[];
}

/** What was granted against what the API server saw us use in this whole run: nothing refused, and nothing in vain without a reason. */
export async function checkPermissions(
  context: TestContext,
  world: ClusterWorld,
  objects: readonly KubeObject[],
): Promise<void> {
  const used = await usedPermissions(world.kubeconfig, ["capstan-system", "kubernaut-executor"]);
  const granted = grantedBy(objects);
  // A server that has just been started refuses for a moment what its rules allow; only what they do not allow is missing.
  const missing = [...used].flatMap(([account, use]) =>
    [...use.forbidden].filter((what) => !granted.get(account)?.has(what)).map((what) => `${account}: ${what}`),
  );
  const lines: string[] = [];
  const unexplained: string[] = [];
  for (const [account, permissions] of granted) {
    // Each action's account is used by that action only, and the story runs one of them.
    if (account.startsWith("kubernaut-action-")) continue;
    const allowed = used.get(account)?.allowed ?? new Set<string>();
    const unused = [...permissions].filter((what) => !allowed.has(what));
    lines.push(`${account}: ${permissions.size} granted, ${permissions.size - unused.length} used`);
    for (const what of unused) {
      const reason = acceptedReason(account, what, allowed);
      lines.push(`  not used: ${what}: ${reason ?? "NO REASON"}`);
      if (reason === undefined) unexplained.push(`${account}: ${what}`);
    }
  }
  context.diagnostic(["what was granted and used:", ...lines].join("\n"));
  assert.deepEqual(missing, [], "nothing that was tried is missing");
  assert.deepEqual(unexplained, [], "nothing is granted in vain without a reason");
}

/** `verb group/resource` by account, whatever the namespace. */
function grantedBy(objects: readonly KubeObject[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { kind, metadata, roleRef, subjects } of objects as readonly Binding[]) {
    if (kind !== "RoleBinding" && kind !== "ClusterRoleBinding") continue;
    const role = objects.find(
      (object) =>
        object.kind === roleRef.kind &&
        object.metadata.name === roleRef.name &&
        (roleRef.kind === "ClusterRole" || object.metadata.namespace === metadata.namespace),
    ) as Rules;
    for (const { name } of subjects) {
      const permissions = found.get(name) ?? new Set<string>();
      found.set(name, permissions);
      for (const { apiGroups, resources, verbs } of role.rules)
        for (const group of apiGroups)
          for (const resource of resources) for (const verb of verbs) permissions.add(`${verb} ${group}/${resource}`);
    }
  }
  return found;
}
