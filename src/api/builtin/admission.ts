/** What a write must pass before it is stored: policies in CEL, and webhooks. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, integer, optional, string, type TypeOf } from "../../kube/schema/build.ts";
import { labelSelector } from "../label-selector.ts";
import { openObject } from "./open-object.ts";

const group = "admissionregistration.k8s.io";
const version = "v1";

const rule = {
  apiGroups: optional(array(string())),
  apiVersions: optional(array(string())),
  resources: optional(array(string())),
  operations: optional(array(string())),
  scope: optional(string()),
} as const;

const matchResources = openObject({
  matchPolicy: optional(string()),
  namespaceSelector: optional(labelSelector("Namespaces.")),
  objectSelector: optional(labelSelector("Objects.")),
  resourceRules: optional(array(openObject({ ...rule, resourceNames: optional(array(string())) }))),
  excludeResourceRules: optional(array(openObject({ ...rule, resourceNames: optional(array(string())) }))),
});

const namedExpression = openObject({ name: string(), expression: string() });

export const ValidatingAdmissionPolicy = defineKind({
  group,
  version,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  scope: "Cluster",
  description: "Rules in CEL that a write must meet.",
  spec: openObject({
    failurePolicy: optional(string()),
    paramKind: optional(openObject({ apiVersion: optional(string()), kind: optional(string()) })),
    matchConstraints: optional(matchResources),
    matchConditions: optional(array(namedExpression)),
    variables: optional(array(namedExpression)),
    validations: optional(
      array(
        openObject({
          expression: string(),
          message: optional(string()),
          messageExpression: optional(string()),
          reason: optional(string()),
        }),
      ),
    ),
    auditAnnotations: optional(array(openObject({ key: string(), valueExpression: string() }))),
  }),
});
export type ValidatingAdmissionPolicy = ResourceOf<typeof ValidatingAdmissionPolicy>;

export const ValidatingAdmissionPolicyBinding = defineKind({
  group,
  version,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  scope: "Cluster",
  description: "Where a policy holds, and what follows when it is not met.",
  spec: openObject({
    policyName: string(),
    validationActions: optional(array(string())),
    matchResources: optional(matchResources),
    paramRef: optional(
      openObject({
        name: optional(string()),
        namespace: optional(string()),
        parameterNotFoundAction: optional(string()),
      }),
    ),
  }),
});
export type ValidatingAdmissionPolicyBinding = ResourceOf<typeof ValidatingAdmissionPolicyBinding>;

const webhook = {
  name: string(),
  clientConfig: openObject({
    url: optional(string()),
    caBundle: optional(string({ format: "byte" })),
    service: optional(
      openObject({ namespace: string(), name: string(), path: optional(string()), port: optional(integer()) }),
    ),
  }),
  rules: optional(array(openObject(rule))),
  failurePolicy: optional(string()),
  matchPolicy: optional(string()),
  namespaceSelector: optional(labelSelector("Namespaces.")),
  objectSelector: optional(labelSelector("Objects.")),
  matchConditions: optional(array(namedExpression)),
  sideEffects: string(),
  timeoutSeconds: optional(integer()),
  admissionReviewVersions: array(string()),
} as const;

const validatingWebhook = openObject(webhook);
export type ValidatingWebhook = TypeOf<typeof validatingWebhook>;
const mutatingWebhook = openObject({ ...webhook, reinvocationPolicy: optional(string()) });
export type MutatingWebhook = TypeOf<typeof mutatingWebhook>;

export const ValidatingWebhookConfiguration = defineKind({
  group,
  version,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  scope: "Cluster",
  description: "Webhooks that may refuse a write.",
  fields: { webhooks: optional(array(validatingWebhook, { keys: ["name"] })) },
});
export type ValidatingWebhookConfiguration = ResourceOf<typeof ValidatingWebhookConfiguration>;

export const MutatingWebhookConfiguration = defineKind({
  group,
  version,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  scope: "Cluster",
  description: "Webhooks that may change a write.",
  fields: { webhooks: optional(array(mutatingWebhook, { keys: ["name"] })) },
});
export type MutatingWebhookConfiguration = ResourceOf<typeof MutatingWebhookConfiguration>;
