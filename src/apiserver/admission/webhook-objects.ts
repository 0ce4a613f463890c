import type { LabelSelector } from "../../kube/label-selector.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { ResourceRule } from "./match-resources.ts";

/** Webhook configurations, as far as admission needs them. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: {
    readonly url?: string;
    readonly service?: {
      readonly namespace: string;
      readonly name: string;
      readonly path?: string;
      readonly port?: number;
    };
    readonly caBundle?: string;
  };
  readonly rules?: readonly ResourceRule[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

export const validatingCollection = "validatingwebhookconfigurations.admissionregistration.k8s.io";
export const mutatingCollection = "mutatingwebhookconfigurations.admissionregistration.k8s.io";

/** What a webhook answers. */
export interface WebhookResponse {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: { readonly message?: string; readonly reason?: string; readonly code?: number };
  readonly patch?: string;
  readonly patchType?: string;
  readonly warnings?: readonly string[];
}
