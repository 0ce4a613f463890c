import { deepEqual } from "../../kube/equality.ts";
import type { Admission, AdmissionQuestion } from "../admission/admission.ts";
import { StatusError } from "../protocol/status-error.ts";
import type { RbacAuthorizer } from "./rbac.ts";
import type { Binding, PolicyRule, Role } from "./rbac-objects.ts";
import { formatRule, uncoveredRules } from "./rules.ts";

/** Nobody may give rights that he does not have: not by writing a role, not by binding one. */
export function preventEscalation(authorizer: RbacAuthorizer): Admission {
  return {
    mutate: () => undefined,
    validate(question) {
      const { object, oldObject, endpoint, operation, subresource } = question;
      if (endpoint.resource.group !== "rbac.authorization.k8s.io" || subresource !== "" || !object) return;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      if (question.request.user.groups.includes("system:masters")) return;
      if (oldObject && deepEqual(withoutMetadata(oldObject), withoutMetadata(object))) return;
      const isBinding = endpoint.resource.plural.endsWith("bindings");
      if (mayAnyway(authorizer, question, isBinding ? "bind" : "escalate", object as Binding)) return;
      const rules = isBinding ? rulesBound(authorizer, question, object as Binding) : ((object as Role).rules ?? []);
      refuseUncovered(authorizer, question, rules);
    },
  };
}

const withoutMetadata = (object: object): object => ({ ...object, metadata: null });

/** The verbs `escalate` and `bind` are the deliberate exceptions. */
function mayAnyway(
  authorizer: RbacAuthorizer,
  { request, namespace, name, endpoint }: AdmissionQuestion,
  verb: "bind" | "escalate",
  { roleRef }: Partial<Binding>,
): boolean {
  const resource = verb === "escalate" ? endpoint.resource.plural : roleRef?.kind === "Role" ? "roles" : "clusterroles";
  return authorizer.authorize({
    kind: "Resource",
    user: request.user,
    verb,
    group: "rbac.authorization.k8s.io",
    resource,
    subresource: "",
    namespace,
    name: verb === "escalate" ? name : (roleRef?.name ?? ""),
  }).allowed;
}

function rulesBound(
  authorizer: RbacAuthorizer,
  { namespace, name, endpoint }: AdmissionQuestion,
  { roleRef }: Binding,
) {
  const rules = authorizer.rulesOfRole(roleRef, namespace);
  if (rules) return rules;
  const resource = roleRef.kind === "Role" ? "roles" : "clusterroles";
  throw new StatusError(
    404,
    "NotFound",
    `${resource}.rbac.authorization.k8s.io ${JSON.stringify(roleRef.name)} not found`,
    { name: roleRef.name, group: endpoint.resource.group, kind: resource, ...(name === "" && {}) },
  );
}

function refuseUncovered(authorizer: RbacAuthorizer, question: AdmissionQuestion, rules: readonly PolicyRule[]): void {
  const { request, namespace, name, endpoint } = question;
  const { user } = request;
  const errors: string[] = [];
  const held = [...authorizer.rulesFor(user, namespace, errors)].map(({ rule }) => rule);
  const missing = uncoveredRules(held, rules);
  if (missing.length === 0) return;
  const resource = `${endpoint.resource.plural}.${endpoint.resource.group}`;
  const groups = user.groups.map((group) => JSON.stringify(group)).join(" ");
  throw new StatusError(
    403,
    "Forbidden",
    `${resource} ${JSON.stringify(name)} is forbidden: user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${missing.map(formatRule).join("\n")}`,
    { name, group: endpoint.resource.group, kind: endpoint.resource.plural },
  );
}
