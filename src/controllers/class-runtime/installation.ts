import { type ClassRuntimeSettings, defaultSettings } from "./settings.ts";
import { createVariableReader, type VariableReader, type Variables } from "./variables.ts";

/** Everything that an operator decides about class runtimes in one installation. */
export interface Installation {
  readonly settings: ClassRuntimeSettings;
  readonly analysis: AnalysisSettings;
  readonly wire: WireSettings;
}

/** How classes are measured. */
export interface AnalysisSettings {
  /** Absent: nothing is measured. */
  readonly prometheusUrl?: string;
  readonly intervalMs: number;
  readonly queryTimeoutMs: number;
  readonly rangeMs: number;
  readonly stepMs: number;
  /** What one pod is expected to carry. */
  readonly cpuPerPodMillis: number;
  /** How busy the nodes are, from 0 to 1; without it cpu is never enforced. */
  readonly loadQuery?: string;
}

/** What the gRPC services need to know. */
export interface WireSettings {
  /** Where class runtimes live that are deployed through this door. */
  readonly namespace: string;
  /** What this environment is called. */
  readonly environment: string;
  /** Where it is and what it is made of, for whoever asks for the topology. */
  readonly place?: Readonly<Record<string, string>>;
  /** What is told instead of the share of nodes that are ready, from 0 to 1. */
  readonly availability?: number;
}

export const defaultInstallation: Installation = {
  settings: defaultSettings,
  analysis: { intervalMs: 60_000, queryTimeoutMs: 5_000, rangeMs: 600_000, stepMs: 30_000, cpuPerPodMillis: 500 },
  wire: { namespace: "default", environment: "default" },
};

export type InstallationRead =
  | { readonly ok: true; readonly installation: Installation }
  | { readonly ok: false; readonly message: string };

/** Upstream's variables (`OPRC_CRM_*`, `OPRC_ENV_*`) on top of the defaults. */
export function readInstallation(variables: Variables): InstallationRead {
  const read = createVariableReader(variables);
  const installation = {
    settings: settingsFrom(read),
    analysis: analysisFrom(read),
    wire: wireFrom(read),
  };
  for (const name of alwaysOn) read.flag(name, true);
  // Whoever asks for it must not be served in the clear without a word.
  if (read.flag("OPRC_CRM_SECURITY_MTLS", false)) read.refuse("OPRC_CRM_SECURITY_MTLS", plaintext);
  return read.problems.length > 0 ? { ok: false, message: read.problems.join("; ") } : { ok: true, installation };
}

/** What they switch in the original is not optional here, or has a flag of its own; they are only checked. */
const alwaysOn = ["OPRC_CRM_FEATURES_FSM", "OPRC_CRM_FEATURES_LEADER_ELECTION"] as const;
const plaintext = "the gRPC port has no TLS of its own; set it to false and let a service mesh or a proxy do it";

function settingsFrom(read: VariableReader): ClassRuntimeSettings {
  const { enforcement: bounds, features } = defaultSettings;
  const profile = read.text("OPRC_CRM_PROFILE")?.toLowerCase();
  // Whoever names a profile gets what upstream switches on in it; otherwise a class's own mode decides.
  const ofProfile = profile === undefined ? features : (featuresOfProfile[profile] ?? featuresOfOthers);
  const image = read.text("OPRC_CRM_TEMPLATES_ODGM_IMAGE");
  const pullPolicy = read.oneOf("OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY", ["Always", "IfNotPresent", "Never"]);
  const endpoint = read.text("OPRC_CRM_OTEL_ENDPOINT") ?? "http://otel-collector:4317";
  const hasTelemetry = read.flag("OPRC_CRM_OTEL_ENABLED", false);
  return {
    ...defaultSettings,
    profile: profile ?? defaultSettings.profile,
    isEdge: read.flag("OPRC_ENV_IS_EDGE", false),
    isDatacenter: read.flag("OPRC_ENV_IS_DATACENTER", false),
    features: {
      odgm: read.flag("OPRC_CRM_FEATURES_ODGM", true),
      knative: read.flag("OPRC_CRM_FEATURES_KNATIVE", true),
      hpa: read.flag("OPRC_CRM_FEATURES_HPA", ofProfile.hpa),
      nfrEnforcement: read.flag("OPRC_CRM_FEATURES_NFR_ENFORCEMENT", ofProfile.nfrEnforcement),
      metricsTargets: read.flag(
        "OPRC_CRM_FEATURES_METRICS_TARGETS",
        read.flag("OPRC_CRM_FEATURES_PROMETHEUS", features.metricsTargets),
      ),
    },
    monitorLabels: read.pairs("OPRC_CRM_PROM_MATCH_LABELS"),
    odgm: {
      ...(image !== undefined && { image }),
      ...(pullPolicy !== undefined && { pullPolicy }),
      extraEnvironment: read.pairs("OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV"),
    },
    telemetry: { enabled: hasTelemetry, ...(hasTelemetry && { endpoint }) },
    enforcement: {
      ...bounds,
      stabilityMs: read.seconds("OPRC_CRM_ENFORCEMENT_STABILITY_SECS", bounds.stabilityMs),
      cooldownMs: read.seconds("OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS", bounds.cooldownMs),
      maxReplicas: read.whole("OPRC_CRM_LIMITS_MAX_REPLICAS", bounds.maxReplicas),
      maxReplicaDelta: read.whole("OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA", bounds.maxReplicaDelta),
    },
  };
}

type ProfileFeatures = Pick<ClassRuntimeSettings["features"], "hpa" | "nfrEnforcement">;

const featuresOfOthers: ProfileFeatures = { hpa: false, nfrEnforcement: false };

const featuresOfProfile: Readonly<Record<string, ProfileFeatures>> = {
  edge: { hpa: true, nfrEnforcement: false },
  full: { hpa: true, nfrEnforcement: true },
  prod: { hpa: true, nfrEnforcement: true },
  production: { hpa: true, nfrEnforcement: true },
};

function analysisFrom(read: VariableReader): AnalysisSettings {
  const { analysis } = defaultInstallation;
  const prometheusUrl = read.url("OPRC_CRM_PROM_URL");
  return {
    ...(prometheusUrl !== undefined && { prometheusUrl }),
    intervalMs: read.seconds("OPRC_CRM_ANALYZER_INTERVAL_SECS", analysis.intervalMs),
    queryTimeoutMs: read.seconds("OPRC_CRM_PROM_QUERY_TIMEOUT_SECS", analysis.queryTimeoutMs),
    rangeMs: read.seconds("OPRC_CRM_PROM_RANGE", analysis.rangeMs),
    stepMs: read.seconds("OPRC_CRM_PROM_STEP", analysis.stepMs),
    cpuPerPodMillis: read.whole("OPRC_CRM_REQ_CPU_PER_POD_M", analysis.cpuPerPodMillis),
  };
}

function wireFrom(read: VariableReader): WireSettings {
  const { wire } = defaultInstallation;
  const availability = read.share("OPRC_MOCK_CLUSTER_AVAILABILITY");
  const place = Object.entries({
    region: read.text("OPRC_ENV_REGION"),
    zone: read.text("OPRC_ENV_ZONE"),
    hw_class: read.text("OPRC_ENV_HW_CLASS"),
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return {
    namespace: read.text("OPRC_CRM_K8S_NAMESPACE") ?? wire.namespace,
    environment: read.text("OPRC_ENV_REGION") ?? wire.environment,
    ...(place.length > 0 && { place: Object.fromEntries(place) }),
    ...(availability !== undefined && { availability }),
  };
}
