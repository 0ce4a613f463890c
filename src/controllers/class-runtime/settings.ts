/** How class runtimes are run here. Every limit has a name; the defaults are upstream's where it has one. */
export interface ClassRuntimeSettings {
  /** dev, edge, full, prod, production or the name of a template: what is scored when no template is asked for. */
  readonly profile: string;
  readonly isEdge: boolean;
  readonly isDatacenter: boolean;
  readonly features: {
    readonly odgm: boolean;
    readonly knative: boolean;
    readonly hpa: boolean;
    readonly nfrEnforcement: boolean;
    readonly metricsTargets: boolean;
  };
  /** On every ServiceMonitor, because a Prometheus may pick them by labels of its own. */
  readonly monitorLabels: Readonly<Record<string, string>>;
  readonly odgm: {
    /** Absent: the template's own. */
    readonly image?: string;
    readonly pullPolicy?: "Always" | "IfNotPresent" | "Never";
    readonly extraEnvironment: Readonly<Record<string, string>>;
  };
  readonly telemetry: { readonly enabled: boolean; readonly endpoint?: string };
  readonly timeouts: {
    /** From the first look at a spec until everything is ready. */
    readonly readyMs: number;
    /** How long a child may stay missing before that is trouble. */
    readonly missingMs: number;
    /** How long a pod may wait for a node or an image before that is trouble. */
    readonly waitingMs: number;
  };
  /** How soon a refused apply is tried again; doubled up to the limit. */
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
  /** Restarts before a crashing container is called a crash loop even between its back-offs. */
  readonly crashLoopRestarts: number;
  readonly enforcement: {
    readonly stabilityMs: number;
    readonly cooldownMs: number;
    readonly maxReplicas: number;
    /** Replicas are moved by at most so many at once. */
    readonly maxReplicaDelta: number;
    /** A recommendation that is older is not applied. */
    readonly maxAgeMs: number;
    readonly minConfidence: number;
    /** After so many refusals in a row a target is given up until it changes. */
    readonly maxRetries: number;
    /** cpu is not touched while the nodes are busier than this, from 0 to 1. */
    readonly maxLoad: number;
  };
}

export const defaultSettings: ClassRuntimeSettings = {
  profile: "dev",
  isEdge: false,
  isDatacenter: false,
  features: { odgm: true, knative: true, hpa: false, nfrEnforcement: true, metricsTargets: true },
  monitorLabels: {},
  odgm: { extraEnvironment: {} },
  telemetry: { enabled: false },
  timeouts: { readyMs: 300_000, missingMs: 30_000, waitingMs: 60_000 },
  retry: { baseMs: 5_000, maxMs: 300_000 },
  crashLoopRestarts: 3,
  enforcement: {
    stabilityMs: 180_000,
    cooldownMs: 120_000,
    maxReplicas: 20,
    maxReplicaDelta: 30,
    maxAgeMs: 600_000,
    minConfidence: 0.5,
    maxRetries: 5,
    maxLoad: 0.8,
  },
};
