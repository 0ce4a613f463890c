import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from "../../kube/crd.ts";
import type { KubeObject } from "../../kube/object.ts";

/** A stored CustomResourceDefinition, as far as serving its resources needs it. */
export interface Definition extends KubeObject {
  readonly spec: Omit<CustomResourceDefinitionSpec, "versions"> & {
    readonly versions: readonly DefinitionVersion[];
    readonly preserveUnknownFields?: boolean;
  };
  readonly status?: DefinitionStatus;
}

export type DefinitionVersion = CustomResourceDefinitionVersion & {
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
};

export interface DefinitionStatus {
  readonly acceptedNames?: DefinitionNames;
  readonly conditions?: readonly DefinitionCondition[];
  readonly storedVersions?: readonly string[];
}

export type DefinitionNames = CustomResourceDefinitionSpec["names"];

export interface DefinitionCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly lastTransitionTime?: string;
  readonly reason: string;
  readonly message: string;
}

export const definitionCollection = "customresourcedefinitions.apiextensions.k8s.io";
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export const hasCondition = ({ status }: Definition, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;

/** Sets a condition; the time changes only when the status does. */
export function withCondition(definition: Definition, condition: DefinitionCondition): Definition {
  const conditions = definition.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime =
    before?.status === condition.status
      ? (before.lastTransitionTime ?? condition.lastTransitionTime)
      : condition.lastTransitionTime;
  const next = { ...condition, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
  const all = before ? conditions.map((each) => (each === before ? next : each)) : [...conditions, next];
  return { ...definition, status: { ...definition.status, conditions: all } };
}
