import type { LabelSelector } from "../../kube/label-selector.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { MatchResources } from "./match-resources.ts";

/** ValidatingAdmissionPolicy and its binding, as far as admission needs them. */
export interface Policy extends KubeObject {
  readonly spec: {
    readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
    readonly matchConstraints?: MatchResources;
    readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations?: readonly Validation[];
    readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
    readonly failurePolicy?: "Fail" | "Ignore";
  };
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface PolicyBinding extends KubeObject {
  readonly spec: {
    readonly policyName: string;
    readonly paramRef?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly selector?: LabelSelector;
      readonly parameterNotFoundAction?: "Allow" | "Deny";
    };
    readonly matchResources?: MatchResources;
    readonly validationActions?: readonly ("Deny" | "Warn" | "Audit")[];
  };
}

export const policyCollection = "validatingadmissionpolicies.admissionregistration.k8s.io";
export const bindingCollection = "validatingadmissionpolicybindings.admissionregistration.k8s.io";
