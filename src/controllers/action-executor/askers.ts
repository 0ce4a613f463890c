import { SubjectAccessReview } from "../../api/builtin/access-review.ts";
import { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { annotations } from "../../api/well-known.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";

type Context = Pick<ReconcileContext, "write" | "monotonicMs">;

/** Why those who asked for an execution, or planned it, may not have it done there (S9); nothing if they may. */
export type CheckAskers = (
  execution: KubernetesExecution,
  namespace: string | undefined,
  context: Context,
) => Promise<readonly string[]>;

/**
 * In its own namespace an execution may do what the policies allow: whoever put it there may ask for things there. Elsewhere,
 * and for what belongs to no namespace, each of them must be allowed to ask for it there, too: otherwise a namespace
 * would be no border for anybody who may ask in one.
 */
export function createAskersCheck(): CheckAskers {
  const granted = new Map<string, number>();
  return async (execution, namespace = "", context) => {
    if (namespace === execution.metadata.namespace) return [];
    const place = namespace === "" ? "in all namespaces" : `in namespace ${namespace}`;
    const people = askersOf(execution);
    if (people.length === 0) return [`nobody knows who asked for it, and it acts ${place}`];
    const problems: string[] = [];
    for (const { user, groups } of people) {
      const key = JSON.stringify([user, groups, namespace]);
      if ((granted.get(key) ?? Number.NEGATIVE_INFINITY) > context.monotonicMs) continue;
      if (!(await mayAsk(user, groups, namespace, context))) {
        problems.push(`${user} may not ask for actions ${place}`);
        continue;
      }
      if (granted.size >= maxRemembered) granted.clear();
      granted.set(key, context.monotonicMs + rememberMs);
    }
    return problems;
  };
}

export interface Asker {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Who asked, and behind that person who planned it, if it was planned. */
export function askersOf({ metadata }: KubernetesExecution): readonly Asker[] {
  const { requestedBy, requestedByGroups, plannedBy, plannedByGroups } = annotations;
  const stamps = metadata.annotations ?? {};
  return [
    [requestedBy, requestedByGroups],
    [plannedBy, plannedByGroups],
  ].flatMap(([of = "", groupsOf = ""]) => {
    const { [of]: user, [groupsOf]: groups = "" } = stamps;
    return user === undefined ? [] : [{ user, groups: groups.split(",").filter((group) => group !== "") }];
  });
}

async function mayAsk(
  user: string,
  groups: readonly string[],
  namespace: string,
  { write }: Context,
): Promise<boolean> {
  const { group, plural } = KubernetesExecution;
  const resourceAttributes = { verb: "create", group, resource: plural, namespace };
  const answered = await write.create(SubjectAccessReview, {
    metadata: {},
    spec: { user, groups, resourceAttributes },
  });
  if (!answered.ok) throw new Error(`the permissions of ${user} cannot be asked for: ${answered.message}`);
  return answered.object.status?.allowed === true;
}

const rememberMs = 60_000;
const maxRemembered = 10_000;
