import { type Action, actionMembers, actions } from "../../api/action.ts";
import { checkAgainstSchema, parameterNames } from "../../api/parameter-schema.ts";
import { dns1123LabelErrors, dns1123SubdomainErrors } from "../../kube/names.ts";
import { actionDefinition } from "./actions/catalogue.ts";

/** What of an execution's spec says which action runs on what. */
export interface ActionRequest {
  readonly action: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly targetNamespace?: string;
  readonly resourceName?: string;
  readonly targetCluster?: string;
}

export type CheckedParameters =
  | { readonly ok: true; readonly action: Action; readonly parameters: Readonly<Record<string, unknown>> }
  /** Every problem, each with its field. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Step 1 of validation. What comes out is complete, of the right types, and exactly what will run. */
export function checkParameters(request: ActionRequest): CheckedParameters {
  const { action } = request;
  if (!isAction(action))
    return refuse(`spec.action: ${JSON.stringify(action)} is not supported; these are: ${actions.join(", ")}`);
  if (request.targetCluster)
    return refuse(`spec.targetCluster: ${JSON.stringify(request.targetCluster)} cannot be reached; it must be empty`);
  const member = actionMembers[action];
  const foreign = Object.keys(request.parameters ?? {}).filter((name) => name !== member);
  if (foreign.length > 0) return refuse(`spec.parameters.${foreign[0]}: does not belong to the action ${action}`);
  const path = `spec.parameters.${member}`;
  const filled = fill(action, request, path);
  if (typeof filled === "string") return refuse(filled);
  const { value: parameters, problems } = checkAgainstSchema(action, filled, path);
  if (problems.length > 0) return { ok: false, problems };
  const beyond = [...nameProblems(action, parameters), ...(actionDefinition(action).problems?.(parameters) ?? [])].map(
    (problem) => `${path}.${problem}`,
  );
  return beyond.length > 0 ? { ok: false, problems: [...new Set(beyond)] } : { ok: true, action, parameters };
}

/** The specification's own code names the target beside the parameters; both must agree where both are there. */
function fill(action: Action, request: ActionRequest, path: string): Readonly<Record<string, unknown>> | string {
  const { targetNamespace, resourceName } = request;
  const given = request.parameters?.[actionMembers[action]] ?? {};
  if (typeof given !== "object" || given === null || Array.isArray(given)) return `${path}: must be an object`;
  const filled: Record<string, unknown> = { ...given };
  const properties = parameterNames(action);
  const [nameField = ""] = properties;
  const pairs: readonly (readonly [string, string | undefined, string])[] = [
    [properties.includes("namespace") ? "namespace" : "", targetNamespace, "spec.targetNamespace"],
    [action === "apply_manifest" ? "" : nameField, resourceName, "spec.resourceName"],
  ];
  for (const [field, value, source] of pairs) {
    if (field === "" || value === undefined || value === "") continue;
    if (filled[field] === undefined) filled[field] = value;
    else if (filled[field] !== value) return `${source}: ${JSON.stringify(value)} contradicts ${path}.${field}`;
  }
  return filled;
}

/** Names go into paths of requests and into sentences, so nothing but a name may pass. */
function nameProblems(action: Action, parameters: Readonly<Record<string, unknown>>): readonly string[] {
  const [nameField = ""] = parameterNames(action);
  const { namespace, container } = parameters;
  const name = parameters[nameField];
  return [
    ...(action === "apply_manifest" || typeof name !== "string"
      ? []
      : dns1123SubdomainErrors(name).map((message) => `${nameField}: ${message}`)),
    ...(typeof namespace === "string" ? dns1123LabelErrors(namespace).map((message) => `namespace: ${message}`) : []),
    ...(typeof container === "string" ? dns1123LabelErrors(container).map((message) => `container: ${message}`) : []),
  ];
}

export const isAction = (action: string): action is Action => Object.hasOwn(actionMembers, action);

const refuse = (problem: string): CheckedParameters => ({ ok: false, problems: [problem] });
