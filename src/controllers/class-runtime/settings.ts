import { parseDurationMs } from "../../kube/duration.ts";

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
    readonly maxAgeMs: number;
    readonly minConfidence: number;
    readonly maxRetries: number;
  };
}

export const defaultSettings: ClassRuntimeSettings = {
  profile: "dev",
  isEdge: false,
  isDatacenter: false,
  features: { odgm: true, knative: true, hpa: false, nfrEnforcement: false, metricsTargets: true },
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
  },
};

export type SettingsRead =
  | { readonly ok: true; readonly settings: ClassRuntimeSettings }
  | { readonly ok: false; readonly message: string };

/** Upstream's variables (`OPRC_CRM_*`, `OPRC_ENV_*`) on top of the defaults of the profile. */
export function readSettings(variables: Readonly<Record<string, string | undefined>>): SettingsRead {
  const problems: string[] = [];
  const text = (name: string): string | undefined => {
    const value = variables[name]?.trim();
    return value === undefined || value === "" ? undefined : value;
  };
  const flag = (name: string, otherwise: boolean): boolean => {
    const value = text(name)?.toLowerCase();
    if (value === undefined) return otherwise;
    if (["true", "1", "yes", "on"].includes(value)) return true;
    if (["false", "0", "no", "off"].includes(value)) return false;
    problems.push(`${name} is ${JSON.stringify(value)}; true or false is expected`);
    return otherwise;
  };
  const whole = (name: string, otherwise: number): number => {
    const value = text(name);
    if (value === undefined) return otherwise;
    if (/^\d{1,9}$/.test(value)) return Number(value);
    problems.push(`${name} is ${JSON.stringify(value)}; a whole number is expected`);
    return otherwise;
  };
  const seconds = (name: string, otherwiseMs: number): number => {
    const value = text(name);
    const duration = value === undefined || /^\d+$/.test(value) ? undefined : parseDurationMs(value);
    if (duration?.ok) return duration.value;
    return whole(name, otherwiseMs / 1000) * 1000;
  };

  const profile = (text("OPRC_CRM_PROFILE") ?? defaultSettings.profile).toLowerCase();
  const ofProfile = featuresOfProfile[profile] ?? { hpa: false, nfrEnforcement: false };
  const { enforcement: bounds } = defaultSettings;
  const image = text("OPRC_CRM_TEMPLATES_ODGM_IMAGE");
  const pullPolicy = text("OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY");
  if (pullPolicy !== undefined && !isPullPolicy(pullPolicy)) {
    problems.push(
      `OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY is ${JSON.stringify(pullPolicy)}; Always, IfNotPresent or Never`,
    );
  }
  const endpoint = text("OPRC_CRM_OTEL_ENDPOINT") ?? "http://otel-collector:4317";
  const telemetryEnabled = flag("OPRC_CRM_OTEL_ENABLED", false);
  const settings: ClassRuntimeSettings = {
    ...defaultSettings,
    profile,
    isEdge: flag("OPRC_ENV_IS_EDGE", false),
    isDatacenter: flag("OPRC_ENV_IS_DATACENTER", false),
    features: {
      odgm: flag("OPRC_CRM_FEATURES_ODGM", true),
      knative: flag("OPRC_CRM_FEATURES_KNATIVE", true),
      hpa: flag("OPRC_CRM_FEATURES_HPA", ofProfile.hpa),
      nfrEnforcement: flag("OPRC_CRM_FEATURES_NFR_ENFORCEMENT", ofProfile.nfrEnforcement),
      metricsTargets: flag("OPRC_CRM_FEATURES_METRICS_TARGETS", true),
    },
    odgm: {
      ...(image !== undefined && { image }),
      ...(pullPolicy !== undefined && isPullPolicy(pullPolicy) && { pullPolicy }),
      extraEnvironment: pairs(text("OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV") ?? "", problems),
    },
    telemetry: { enabled: telemetryEnabled, ...(telemetryEnabled && { endpoint }) },
    enforcement: {
      ...bounds,
      stabilityMs: seconds("OPRC_CRM_ENFORCEMENT_STABILITY_SECS", bounds.stabilityMs),
      cooldownMs: seconds("OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS", bounds.cooldownMs),
      maxReplicas: whole("OPRC_CRM_LIMITS_MAX_REPLICAS", bounds.maxReplicas),
      maxReplicaDelta: whole("OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA", bounds.maxReplicaDelta),
    },
  };
  return problems.length > 0 ? { ok: false, message: problems.join("; ") } : { ok: true, settings };
}

const featuresOfProfile: Readonly<Record<string, { readonly hpa: boolean; readonly nfrEnforcement: boolean }>> = {
  edge: { hpa: true, nfrEnforcement: false },
  full: { hpa: true, nfrEnforcement: true },
  prod: { hpa: true, nfrEnforcement: true },
  production: { hpa: true, nfrEnforcement: true },
};

const isPullPolicy = (value: string): value is "Always" | "IfNotPresent" | "Never" =>
  value === "Always" || value === "IfNotPresent" || value === "Never";

/** `A=1,B=2` */
function pairs(text: string, problems: string[]): Readonly<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const part of text.split(",")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    if (at > 0) entries.push([part.slice(0, at).trim(), part.slice(at + 1)]);
    else problems.push(`OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV has ${JSON.stringify(part)}; NAME=VALUE is expected`);
  }
  return Object.fromEntries(entries);
}
