import { type LabelSelector, labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { RbacAuthorizer } from "../auth/rbac.ts";
import { qualified, StatusError } from "../protocol/status-error.ts";
import type { ResourceTable } from "../resource-table.ts";
import { storageKey } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import type { Admission, AdmissionQuestion } from "./admission.ts";
import { matchesResources } from "./match-resources.ts";
import { ExpressionValues } from "./policy-expressions.ts";
import { bindingCollection, type Policy, type PolicyBinding, policyCollection } from "./policy-objects.ts";
import { PolicyProgram, type Verdict } from "./policy-program.ts";

/** Policies cannot guard themselves: otherwise nobody could remove one that refuses everything. */
const neverGuarded = "admissionregistration.k8s.io";

/** ValidatingAdmissionPolicies and their bindings, enforced. */
export class PolicyAdmission implements Admission {
  readonly #store: Store;
  readonly #resources: ResourceTable;
  readonly #rbac: RbacAuthorizer;
  readonly #programs = new WeakMap<object, PolicyProgram>();

  constructor(store: Store, resources: ResourceTable, rbac: RbacAuthorizer) {
    this.#store = store;
    this.#resources = resources;
    this.#rbac = rbac;
  }

  mutate(): undefined {
    return undefined;
  }

  validate(question: AdmissionQuestion): void {
    if (this.#store.collection(bindingCollection).size === 0) return;
    if (question.endpoint.resource.group === neverGuarded) return;
    let values: ExpressionValues | undefined;
    for (const { object } of this.#store.collection(bindingCollection).range()) {
      const binding = object as PolicyBinding;
      const policy = this.#store.get(policyCollection, binding.spec.policyName)?.object as Policy | undefined;
      if (!policy || !this.#applies(policy, binding, question)) continue;
      values ??= new ExpressionValues(question, this.#rbac, this.#namespaceObject(question));
      this.#enforce(policy, binding, question, values);
    }
  }

  #applies(policy: Policy, binding: PolicyBinding, question: AdmissionQuestion): boolean {
    return (
      matchesResources(this.#store, policy.spec.matchConstraints ?? {}, question) &&
      matchesResources(this.#store, binding.spec.matchResources, question)
    );
  }

  #enforce(policy: Policy, binding: PolicyBinding, question: AdmissionQuestion, values: ExpressionValues): void {
    const program = this.#programOf(policy);
    const found = this.#paramsFor(policy, binding, question);
    const verdicts: readonly Verdict[] =
      found.kind === "Missing"
        ? [{ kind: "Failed", message: found.message, reason: "Invalid" }]
        : found.params.flatMap((params) => program.judge(values, params));
    const names = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
    const actions = binding.spec.validationActions ?? [];
    for (const verdict of verdicts) {
      if (verdict.kind !== "Failed") continue;
      if (actions.includes("Warn"))
        question.request.warnings.push(`Validation failed for ${names}: ${verdict.message}`);
      if (actions.includes("Deny"))
        throw refusal(question, `${names} denied request: ${verdict.message}`, verdict.reason);
    }
  }

  #programOf(policy: Policy): PolicyProgram {
    let program = this.#programs.get(policy);
    if (!program) {
      program = new PolicyProgram(policy);
      this.#programs.set(policy, program);
    }
    return program;
  }

  #namespaceObject({ namespace, endpoint }: AdmissionQuestion): KubeObject | undefined {
    if (namespace === "" || endpoint.collection === "namespaces") return undefined;
    return this.#store.get("namespaces", namespace)?.object;
  }

  /** The objects that a binding hands to its policy: one undefined when the policy takes none. */
  #paramsFor({ spec }: Policy, binding: PolicyBinding, question: AdmissionQuestion): Params {
    const { paramKind } = spec;
    const { paramRef } = binding.spec;
    if (!paramKind) return { kind: "Found", params: [undefined] };
    if (!paramRef) return { kind: "Found", params: [null] };
    const [version = "", group = ""] = paramKind.apiVersion.split("/").reverse();
    const endpoint = this.#resources.findKind(group, version, paramKind.kind);
    if (!endpoint)
      return missing(
        `failed to find resource referenced by paramKind: '${paramKind.apiVersion}, Kind=${paramKind.kind}'`,
      );
    const namespace = endpoint.resource.namespaced ? (paramRef.namespace ?? question.namespace) : undefined;
    if (endpoint.resource.namespaced && !namespace)
      return missing("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
    const collection = this.#store.collection(endpoint.collection);
    const found = paramRef.name
      ? [collection.get(storageKey(namespace, paramRef.name))?.object].filter((each) => each !== undefined)
      : collection
          .range(namespace ? `${namespace}/` : "")
          .map(({ object }) => object)
          .filter((object) => selects(paramRef.selector, object));
    if (found.length > 0) return { kind: "Found", params: found };
    if (paramRef.parameterNotFoundAction === "Allow") return { kind: "Found", params: [] };
    return missing("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
}

type Params =
  | { readonly kind: "Found"; readonly params: readonly unknown[] }
  | { readonly kind: "Missing"; readonly message: string };

const missing = (why: string): Params => ({ kind: "Missing", message: `failed to configure binding: ${why}` });

function selects(selector: LabelSelector | undefined, { metadata }: KubeObject): boolean {
  const requirements = labelSelectorRequirements(selector ?? {});
  return requirements.ok && matchesLabels(requirements.value, metadata.labels);
}

const codes: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  Invalid: 422,
  RequestEntityTooLarge: 413,
};

function refusal({ endpoint, name }: AdmissionQuestion, message: string, reason: string): StatusError {
  const { group, name: kind } = endpoint.resourceName;
  return new StatusError(
    codes[reason] ?? 422,
    reason,
    `${qualified(endpoint.resourceName)} ${JSON.stringify(name)} is forbidden: ${message}`,
    {
      name,
      ...(group !== "" && { group }),
      kind,
      causes: [{ message }],
    },
  );
}
