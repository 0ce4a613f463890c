import { KnativeService } from "../../api/builtin/knative.ts";
import { ServiceMonitor } from "../../api/builtin/monitoring.ts";
import { HorizontalPodAutoscaler } from "../../api/builtin/scaling.ts";
import { Service } from "../../api/builtin/service.ts";
import { Deployment } from "../../api/builtin/workloads.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { ManagedKind } from "./templates/template.ts";

/** The API kinds that children are made of. The names are those that users read in messages and references. */
export const childKinds = {
  Deployment,
  Service,
  HorizontalPodAutoscaler,
  KnativeService,
  ServiceMonitor,
} as const satisfies Readonly<Record<string, KindRef>>;
export type ChildKind = keyof typeof childKinds;

/** Of other projects, which may not be installed, or not yet. */
export const isOptional = (kind: ChildKind): kind is "KnativeService" | "ServiceMonitor" =>
  kind === "KnativeService" || kind === "ServiceMonitor";

export const childKindRef = (kind: ChildKind): KindRef => childKinds[kind];

export const childKindOf = (managed: ManagedKind): ChildKind => kindOfManaged[managed];

const kindOfManaged: Readonly<Record<ManagedKind, ChildKind>> = {
  Deployment: "Deployment",
  Service: "Service",
  KnativeService: "KnativeService",
  OdgmDeployment: "Deployment",
  OdgmService: "Service",
  Hpa: "HorizontalPodAutoscaler",
  ServiceMonitor: "ServiceMonitor",
};

export interface ObservedChild {
  readonly kind: ChildKind;
  readonly object: KubeObject;
}

export const childId = (kind: ChildKind, name: string): string => `${kind}/${name}`;
