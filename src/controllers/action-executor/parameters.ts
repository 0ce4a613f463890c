import { type Action, type ActionMember, actionMembers, actions } from "../../api/action.ts";
import { actionParameters } from "../../api/action-parameters.ts";
import { dns1123LabelErrors, dns1123SubdomainErrors } from "../../kube/names.ts";
import { type CompiledSchema, compileSchema } from "../../kube/schema/compile.ts";
import type { Schema } from "../../kube/schema/schema.ts";
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
  const schema = schemaOf(member);
  const { value, unknown } = schema.prune(filled);
  const problems = [
    ...unknown.map((name) => `${path}.${name}: unknown field`),
    ...schema
      .validate(value)
      // Never the value itself, and of Secrets not even the server's sentence, which may quote it.
      .map(
        ({ field, type, detail }) =>
          `${joined(path, field)}: ${action === "update_secret" || !detail ? `${type} value` : detail}`,
      ),
  ];
  if (problems.length > 0) return { ok: false, problems };
  const parameters = value as Readonly<Record<string, unknown>>;
  const beyond = [...nameProblems(action, parameters), ...(actionDefinition(action).problems?.(parameters) ?? [])].map(
    (problem) => `${path}.${problem}`,
  );
  return beyond.length > 0 ? { ok: false, problems: beyond } : { ok: true, action, parameters };
}

/** The specification's own code names the target beside the parameters; both must agree where both are there. */
function fill(action: Action, request: ActionRequest, path: string): Readonly<Record<string, unknown>> | string {
  const { targetNamespace, resourceName } = request;
  const given = request.parameters?.[actionMembers[action]] ?? {};
  if (typeof given !== "object" || given === null || Array.isArray(given)) return `${path}: must be an object`;
  const filled: Record<string, unknown> = { ...given };
  const properties = Object.keys(memberSchema(actionMembers[action]).properties ?? {});
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
  const [nameField = ""] = Object.keys(memberSchema(actionMembers[action]).properties ?? {});
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

const memberSchema = (member: ActionMember): Schema => actionParameters.schema.properties?.[member] ?? {};

const compiled = new Map<ActionMember, CompiledSchema>();
function schemaOf(member: ActionMember): CompiledSchema {
  const known = compiled.get(member);
  if (known) return known;
  // `prune` expects a whole resource, of which it leaves the head alone.
  const made = compileSchema({ type: "object", ...memberSchema(member) });
  compiled.set(member, made);
  return made;
}

const joined = (path: string, field: string): string =>
  field === "" || field === "<nil>" ? path : `${path}${field.startsWith("[") ? "" : "."}${field}`;
