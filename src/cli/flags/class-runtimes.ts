import { type Command, InvalidArgumentError } from "commander";
import {
  defaultInstallation,
  type Installation,
  readInstallation,
} from "../../controllers/class-runtime/installation.ts";
import { isHttpUrl, type Variables } from "../../controllers/class-runtime/variables.ts";
import { formatDurationMs, parseDurationMs } from "../../kube/duration.ts";
import { Failure } from "../failure.ts";
import { parsePort, setting } from "../settings.ts";

/** What an operator of class runtimes can set. A flag wins over upstream's variable, which wins over the default. */
export interface ClassRuntimeFlags {
  readonly grpcPort: number;
  readonly classRuntimeNamespace?: string;
  readonly environmentName?: string;
  readonly classRuntimeProfile?: string;
  readonly classReadyTimeout?: number;
  readonly classMissingTimeout?: number;
  readonly classWaitingTimeout?: number;
  readonly prometheusUrl?: string;
  readonly nfrInterval?: number;
  readonly nfrLoadQuery?: string;
  readonly nfrMaxLoad?: number;
  readonly nfrMaxAge?: number;
  readonly nfrMinConfidence?: number;
  readonly enforceStability?: number;
  readonly enforceCooldown?: number;
  readonly enforceMaxReplicas?: number;
  readonly enforceMaxReplicaDelta?: number;
  readonly enforceMaxRetries?: number;
}

export function withClassRuntimeFlags(command: Command): Command {
  const { settings, analysis, wire } = defaultInstallation;
  const { enforcement, timeouts } = settings;
  // The default is only told, so that upstream's variable can come in between.
  const add = (flags: string, about: string, usual: unknown, parse: (text: string) => unknown, variable = ""): void => {
    const also = variable === "" ? "" : `; also ${variable}`;
    const hint = usual === undefined ? "" : ` (default: ${usual})`;
    command.addOption(setting(flags, `${about}${also}${hint}`).argParser(parse));
  };
  command.addOption(
    setting("--grpc-port <port>", "port of the class runtime API for OaaS (gRPC), 0 for any free one")
      .argParser(parsePort)
      .default(defaultGrpcPort),
  );
  add(
    "--class-runtime-namespace <name>",
    "where classes live that are deployed over gRPC",
    wire.namespace,
    asText,
    "OPRC_CRM_K8S_NAMESPACE",
  );
  add("--environment-name <name>", "what OaaS calls this cluster", wire.environment, asText, "OPRC_ENV_REGION");
  add(
    "--class-runtime-profile <name>",
    "dev, edge, full or a template: what suits classes that ask for no template",
    settings.profile,
    asText,
    "OPRC_CRM_PROFILE",
  );
  add("--class-ready-timeout <time>", "a class must be ready in", formatDurationMs(timeouts.readyMs), parseTime);
  add(
    "--class-missing-timeout <time>",
    "an object may be missing for",
    formatDurationMs(timeouts.missingMs),
    parseTime,
  );
  add(
    "--class-waiting-timeout <time>",
    "a pod may wait for its node or image for",
    formatDurationMs(timeouts.waitingMs),
    parseTime,
  );
  add(
    "--prometheus-url <url>",
    "measures classes; without it nothing is recommended",
    undefined,
    parseUrl,
    "OPRC_CRM_PROM_URL",
  );
  add(
    "--nfr-interval <time>",
    "classes are measured every",
    formatDurationMs(analysis.intervalMs),
    parsePositiveTime,
    "OPRC_CRM_ANALYZER_INTERVAL_SECS",
  );
  add(
    "--nfr-load-query <promql>",
    "how busy the nodes are, from 0 to 1; cpu is enforced only with it",
    undefined,
    asText,
  );
  add("--nfr-max-load <number>", "cpu is not touched at a load above", enforcement.maxLoad, parseShare);
  add(
    "--nfr-max-age <time>",
    "an older recommendation is not applied",
    formatDurationMs(enforcement.maxAgeMs),
    parseTime,
  );
  add("--nfr-min-confidence <number>", "cpu and memory need this confidence", enforcement.minConfidence, parseShare);
  add(
    "--enforce-stability <time>",
    "a recommendation must hold for",
    formatDurationMs(enforcement.stabilityMs),
    parseTime,
    "OPRC_CRM_ENFORCEMENT_STABILITY_SECS",
  );
  add(
    "--enforce-cooldown <time>",
    "between two changes there are at least",
    formatDurationMs(enforcement.cooldownMs),
    parseTime,
    "OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS",
  );
  add(
    "--enforce-max-replicas <number>",
    "no function gets more replicas than",
    enforcement.maxReplicas,
    parsePositive,
    "OPRC_CRM_LIMITS_MAX_REPLICAS",
  );
  add(
    "--enforce-max-replica-delta <number>",
    "one change moves replicas by at most",
    enforcement.maxReplicaDelta,
    parsePositive,
    "OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA",
  );
  add("--enforce-max-retries <number>", "a refused change is tried again so often", enforcement.maxRetries, parseWhole);
  return command;
}

/** Upstream's port. */
const defaultGrpcPort = 8088;

export function classRuntimeSettingsOf(flags: ClassRuntimeFlags, variables: Variables = process.env): Installation {
  const { classRuntimeProfile: profile } = flags;
  const read = readInstallation({ ...variables, ...(profile !== undefined && { OPRC_CRM_PROFILE: profile }) });
  if (!read.ok) throw new Failure(read.message);
  const { settings, analysis, wire } = read.installation;
  const { enforcement, timeouts } = settings;
  return {
    settings: {
      ...settings,
      timeouts: {
        readyMs: flags.classReadyTimeout ?? timeouts.readyMs,
        missingMs: flags.classMissingTimeout ?? timeouts.missingMs,
        waitingMs: flags.classWaitingTimeout ?? timeouts.waitingMs,
      },
      enforcement: {
        stabilityMs: flags.enforceStability ?? enforcement.stabilityMs,
        cooldownMs: flags.enforceCooldown ?? enforcement.cooldownMs,
        maxReplicas: flags.enforceMaxReplicas ?? enforcement.maxReplicas,
        maxReplicaDelta: flags.enforceMaxReplicaDelta ?? enforcement.maxReplicaDelta,
        maxAgeMs: flags.nfrMaxAge ?? enforcement.maxAgeMs,
        minConfidence: flags.nfrMinConfidence ?? enforcement.minConfidence,
        maxRetries: flags.enforceMaxRetries ?? enforcement.maxRetries,
        maxLoad: flags.nfrMaxLoad ?? enforcement.maxLoad,
      },
    },
    analysis: {
      ...analysis,
      intervalMs: flags.nfrInterval ?? analysis.intervalMs,
      ...(flags.prometheusUrl !== undefined && { prometheusUrl: flags.prometheusUrl }),
      ...(flags.nfrLoadQuery !== undefined && { loadQuery: flags.nfrLoadQuery }),
    },
    wire: {
      ...wire,
      namespace: flags.classRuntimeNamespace ?? wire.namespace,
      environment: flags.environmentName ?? wire.environment,
    },
  };
}

function asText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It is empty.");
  return text;
}

function parseTime(text: string): number {
  const duration = parseDurationMs(text);
  if (!duration.ok || duration.value < 0) throw new InvalidArgumentError("A time is a duration such as 90s or 10m.");
  return duration.value;
}

function parsePositiveTime(text: string): number {
  const timeMs = parseTime(text);
  if (timeMs === 0) throw new InvalidArgumentError("It has to be longer than nothing.");
  return timeMs;
}

function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("A whole number is expected.");
  return Number(text);
}

function parsePositive(text: string): number {
  const number = parseWhole(text);
  if (number === 0) throw new InvalidArgumentError("At least 1 is expected.");
  return number;
}

function parseShare(text: string): number {
  const share = Number(text);
  if (text.trim() === "" || !(share >= 0 && share <= 1))
    throw new InvalidArgumentError("A number from 0 to 1 is expected.");
  return share;
}

function parseUrl(text: string): string {
  if (!isHttpUrl(text)) throw new InvalidArgumentError("A URL begins with http:// or https://.");
  return text;
}
