import { mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import packageFile from "../../../package.json" with { type: "json" };
import { type ClusterClient, clientInCluster } from "../../client/connect.ts";
import { systemNames } from "../../control-plane/controllers.ts";
import { runControllers } from "../../control-plane/on-cluster.ts";
import type { WebhookPlace } from "../../control-plane/webhook-certificate.ts";
import { systemEnv } from "../../env/system.ts";
import { restClientMetrics } from "../../runtime/client-metrics.ts";
import type { LogFormat, Logger, LogLevel } from "../../runtime/log.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { Failure, failClearly } from "../failure.ts";
import { actionSettingsOf, type WebhookFlags, withWebhookFlags } from "../flags/actions.ts";
import { classRuntimeSettingsOf } from "../flags/class-runtimes.ts";
import { type DashboardFlags, dashboardSettingsOf, withDashboardFlags } from "../flags/dashboard.ts";
import { databaseLocationOf } from "../flags/database.ts";
import { registrySettingsOf } from "../flags/registry.ts";
import { type SystemFlags, withSystemFlags } from "../flags/systems.ts";
import { traceSettingsOf } from "../flags/traces.ts";
import { logToStandardError } from "../log.ts";
import { mendable } from "../mendable.ts";
import { baseUrlsOf } from "../outside-flags.ts";
import { readDashboard } from "../package-files.ts";
import { parsePort, setting } from "../settings.ts";
import { signalled } from "../signalled.ts";

interface RunFlags extends ClusterFlags, SystemFlags, WebhookFlags, DashboardFlags {
  readonly image: string;
  readonly controllers: readonly string[];
  readonly namespace?: readonly string[];
  readonly leaderElect: boolean;
  readonly leaderElectName: string;
  readonly leaderElectNamespace: string;
  readonly bindAddress: string;
  readonly httpPort: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** `capstan run`: the controllers against a cluster, from a laptop or inside it. */
export function runCommand(): Command {
  const command = new Command("run")
    .description("Run the controllers against a Kubernetes cluster; inside a pod its ServiceAccount is used.")
    .addOption(
      setting("--controllers <names>", `systems to run: ${systemNames.join(", ")}`)
        .argParser(parseSystems)
        .default(systemNames, "all"),
    )
    .addOption(setting("--namespace <names>", "watch only these namespaces, separated by commas").argParser(parseNames))
    .addOption(
      setting("--image <image>", "our own image, for pods that do our work").default(`capstan:${packageFile.version}`),
    )
    .addOption(setting("--leader-elect", "let only one replica work; the others keep their caches warm").default(false))
    .addOption(setting("--leader-elect-name <name>", "the name of the lease").default("capstan"))
    .addOption(setting("--leader-elect-namespace <name>", "where the lease lives").default("capstan-system"))
    .addOption(setting("--bind-address <address>", "where health and metrics are served").default("127.0.0.1"))
    .addOption(
      setting("--http-port <port>", "port of health and metrics, 0 for any free one")
        .argParser(parsePort)
        .default(8080),
    )
    .addOption(
      setting("--log-level <level>", "what to log").choices(["debug", "info", "warn", "error"]).default("info"),
    )
    .addOption(setting("--log-format <format>", "how to log").choices(["pretty", "json"]).default("json"))
    .addHelpText(
      "after",
      "\nExamples:\n  capstan install --crds-only | kubectl apply --server-side -f - && capstan run\n  capstan run --controllers resolver,versions --namespace games\n",
    );
  return withDashboardFlags(withWebhookFlags(withSystemFlags(withClusterFlags(command)))).action((flags: RunFlags) =>
    failClearly(() => run(flags, command)),
  );
}

async function run(flags: RunFlags, command: Command): Promise<void> {
  const stopAsked = signalled();
  const log = logToStandardError(flags.logLevel, flags.logFormat);
  const traces = traceSettingsOf(flags);
  const identity = `${hostname()}_${systemEnv.uuid()}`;
  const running = await runControllers({
    env: systemEnv,
    connect: (metrics) => connect(flags, metrics, log),
    systems: flags.controllers,
    areSystemsChosen: command.getOptionValueSource("controllers") !== "default",
    image: flags.image,
    baseUrls: baseUrlsOf(flags),
    classRuntimes: classRuntimeSettingsOf(flags),
    grpcPort: { port: flags.grpcPort, isChosen: command.getOptionValueSource("grpcPort") !== "default" },
    version: packageFile.version,
    registry: registrySettingsOf(flags),
    actions: actionSettingsOf(flags),
    webhook: webhookPlaceOf(flags),
    database: () => databaseOf(flags),
    dashboard: { assets: readDashboard(), ...dashboardSettingsOf(flags) },
    ...(traces && { traces }),
    ...(flags.debugPort !== undefined && { debugPort: flags.debugPort }),
    namespaces: flags.namespace ?? [],
    host: flags.bindAddress,
    httpPort: flags.httpPort,
    log,
    ...(flags.leaderElect && {
      leaderElection: { name: flags.leaderElectName, namespace: flags.leaderElectNamespace, identity },
    }),
  }).catch((error: unknown) => {
    throw mendable(error);
  });
  log.info("controllers are running", {
    controllers: flags.controllers,
    http: running.http,
    registry: running.registry,
  });
  const ended = await Promise.race([stopAsked.then(() => undefined), running.ended]);
  await running.stop();
  if (ended) throw new Failure(`the controllers have stopped: ${ended.message}`);
}

function webhookPlaceOf({ bindAddress, webhookPort, webhookService, webhookUrl }: RunFlags): WebhookPlace {
  return {
    host: bindAddress,
    port: webhookPort,
    service: webhookService,
    ...(webhookUrl !== undefined && { url: webhookUrl }),
  };
}

/** Replicas must share what they keep; a single process on a laptop keeps it in a file. */
function databaseOf(flags: RunFlags): string {
  if (flags.leaderElect && flags.databaseUrl === undefined) {
    throw new Failure(
      "replicas of the registry and of actions share a database: name it with --database-url postgres://…",
    );
  }
  mkdirSync(ownFolder, { recursive: true });
  return databaseLocationOf(flags, ownFolder);
}

const ownFolder = ".capstan-run";

/** A kubeconfig when one is named or there, otherwise the pod's own ServiceAccount. */
async function connect(flags: RunFlags, metrics: MetricsRegistry, log: Logger): Promise<ClusterClient> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const watched = {
    metrics: restClientMetrics(metrics),
    onSkew: (aheadMs: number) =>
      log.warn("the clock of the cluster differs from ours, and is the one that counts", {
        aheadSeconds: Math.round(aheadMs / 1000),
      }),
  };
  if (flags.kubeconfig === undefined && flags.dataDir === undefined && host && port) {
    return clientInCluster({ env: systemEnv, host, port, ...watched });
  }
  return connectTo(flags, watched);
}

const parseNames = (text: string): readonly string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

function parseSystems(text: string): readonly string[] {
  const names = parseNames(text);
  const unknown = names.filter((name) => !systemNames.includes(name));
  if (unknown.length > 0 || names.length === 0)
    throw new InvalidArgumentError(`Systems are: ${systemNames.join(", ")}.`);
  return names;
}
