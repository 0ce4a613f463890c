import type { Deployment } from "../../../api/builtin/workloads.ts";
import type { ClassFunction } from "../../../api/class-function.ts";
import type { ClassRuntime } from "../../../api/class-runtime.ts";
import type { ApplyObject } from "../../../client/client.ts";
import type { KubeObject } from "../../../kube/object.ts";
import type { HeldValues } from "../nfr/held-values.ts";
import type { ClassRuntimeSettings } from "../settings.ts";

/**
 * A way to deploy a class. A template is one file: what it is called, when it fits, which objects it makes, and how to
 * tell whether each of them is ready. Nothing else knows any template by name.
 */
export interface Template {
  readonly id: string;
  readonly aliases: readonly string[];
  /** The kinds of objects that it makes. */
  readonly managed: readonly ManagedKind[];
  readonly readiness: readonly ReadinessRule[];
  readonly supportsOdgm: boolean;
  readonly functionName: (className: string, index: number, total: number) => string;
  /** Whether it can be used at all on this platform. */
  readonly isServed: (platform: Platform) => boolean;
  /** How well it fits when none is asked for; the highest wins, the first of equals. */
  readonly score: (situation: Situation) => number;
  readonly render: (input: RenderInput) => Rendered;
}

export const managedKinds = [
  "Deployment",
  "Service",
  "KnativeService",
  "OdgmDeployment",
  "OdgmService",
  "Hpa",
  "ServiceMonitor",
] as const;
export type ManagedKind = (typeof managedKinds)[number];

/** What is installed beside Kubernetes itself. */
export interface Platform {
  readonly knative: boolean;
  readonly serviceMonitors: boolean;
}

export interface Situation {
  readonly profile: string;
  readonly isEdge: boolean;
  readonly isDatacenter: boolean;
  readonly requirements: NonNullable<ClassRuntime["spec"]["nfr_requirements"]>;
}

export interface RenderInput {
  readonly classRuntime: ClassRuntime;
  readonly settings: ClassRuntimeSettings;
  readonly platform: Platform;
  readonly routers: readonly Router[];
}

export interface Router {
  readonly service: string;
  readonly port: number;
}

export type Rendered =
  | { readonly ok: true; readonly children: readonly WantedChild[] }
  | { readonly ok: false; readonly message: string };

/** One object that must exist. */
export interface WantedChild {
  readonly kind: ManagedKind;
  readonly name: string;
  /** The function that it serves; absent for what belongs to the whole class. */
  readonly functionKey?: string;
  readonly object: ApplyObject<KubeObject>;
  /** What is left to the enforcer or an autoscaler, and the values to begin with where there are any. */
  readonly left?: readonly (keyof HeldValues)[];
  readonly initial?: HeldValues;
}

export interface ReadinessRule {
  readonly kind: ManagedKind;
  readonly evaluate: (object: KubeObject, wanted: WantedChild) => Readiness;
  readonly contributesToAvailable: boolean;
}

export interface Readiness {
  readonly ready: boolean;
  readonly reason?: string;
  readonly message?: string;
  /** Where the platform says that it can be reached. */
  readonly url?: string;
}

/** A function that runs in a container; one without an image that is a WebAssembly module runs inside the data store. */
export interface DeployedFunction {
  readonly definition: ClassFunction;
  readonly index: number;
  readonly name: string;
  readonly image: string;
  readonly port: number;
  readonly minScale?: number;
  readonly maxScale?: number;
  readonly resources?: NonNullable<Deployment["spec"]["template"]["spec"]["containers"][number]["resources"]>;
  /** Of its resources, what the enforcer decides about. */
  readonly enforcedResources: HeldValues;
}
