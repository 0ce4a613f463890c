import type { Action } from "../../api/action.ts";
import { SubjectAccessReview } from "../../api/builtin/access-review.ts";
import { ServiceAccount } from "../../api/builtin/configuration.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { actionDefinition } from "./actions/catalogue.ts";
import { jobNamespace, serviceAccountOf } from "./names.ts";

type Context = Pick<ReconcileContext, "live" | "write" | "monotonicMs" | "signal">;

/** Step 2 of validation: the action's ServiceAccount is there, and the server says that it may do all that the action does. */
export type CheckAccess = (
  action: Action,
  namespace: string | undefined,
  context: Context,
) => Promise<readonly string[]>;

/** A yes is remembered for a little while; a no is asked again each time, since somebody may be mending it. */
export function createAccessCheck(): CheckAccess {
  const granted = new Map<string, number>();
  return async (action, namespace = "", context) => {
    const key = `${action} ${namespace}`;
    if ((granted.get(key) ?? Number.NEGATIVE_INFINITY) > context.monotonicMs) return [];
    const problems = await review(action, namespace, context);
    if (problems.length > 0) return problems;
    if (granted.size >= maxRemembered) granted.clear();
    granted.set(key, context.monotonicMs + rememberMs);
    return [];
  };
}

async function review(action: Action, namespace: string, { live, write, signal }: Context): Promise<readonly string[]> {
  const name = serviceAccountOf(action);
  try {
    await live.get(ServiceAccount, { namespace: jobNamespace, name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return [`ServiceAccount ${jobNamespace}/${name} does not exist`];
    throw error;
  }
  const problems: string[] = [];
  for (const { group, resource, verbs } of actionDefinition(action).permissions) {
    const [plural = "", subresource] = resource.split("/");
    // What an action does to a node it does without a namespace, the pods on it included.
    for (const verb of verbs) {
      const resourceAttributes = { verb, group, resource: plural, namespace, ...(subresource && { subresource }) };
      const answered = await write.create(SubjectAccessReview, {
        metadata: {},
        spec: {
          user: `system:serviceaccount:${jobNamespace}:${name}`,
          groups: serviceAccountGroups,
          resourceAttributes,
        },
      });
      if (!answered.ok) return [`the permissions of ServiceAccount ${name} cannot be asked for: ${answered.message}`];
      if (answered.object.status?.allowed !== true)
        problems.push(
          `ServiceAccount ${name} may not ${verb} ${resource}${namespace ? ` in namespace ${namespace}` : ""}`,
        );
    }
  }
  return problems;
}

const serviceAccountGroups = [
  "system:serviceaccounts",
  `system:serviceaccounts:${jobNamespace}`,
  "system:authenticated",
];
const rememberMs = 60_000;
const maxRemembered = 10_000;
