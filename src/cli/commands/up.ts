import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import packageFile from "../../../package.json" with { type: "json" };
import { defaultEventTtlMs } from "../../apiserver/event-expiry.ts";
import { defaultHistoryLimits, historyOf } from "../../apiserver/storage/compactor.ts";
import { type ControlPlane, startControlPlane } from "../../control-plane.ts";
import { systemEnv } from "../../env/system.ts";
import type { LogFormat, LogLevel } from "../../runtime/log.ts";
import { holdDataDir } from "../data-dir.ts";
import { Failure, failClearly } from "../failure.ts";
import { actionSettingsOf } from "../flags/actions.ts";
import { classRuntimeSettingsOf } from "../flags/class-runtimes.ts";
import { databaseLocationOf } from "../flags/database.ts";
import { registrySettingsOf } from "../flags/registry.ts";
import { type SystemFlags, withSystemFlags } from "../flags/systems.ts";
import { traceSettingsOf } from "../flags/traces.ts";
import { logToStandardError } from "../log.ts";
import { mendable } from "../mendable.ts";
import { baseUrlsOf } from "../outside-flags.ts";
import { readDashboard, readDemo, threadPrograms } from "../package-files.ts";
import { parseDurationFlag, parsePort, setting } from "../settings.ts";
import { signalled } from "../signalled.ts";
import { welcome } from "../welcome.ts";

interface UpFlags extends SystemFlags {
  readonly dataDir: string;
  readonly apiPort: number;
  readonly httpPort: number;
  readonly demo: boolean;
  readonly image: string;
  readonly processes: "own" | "all";
  readonly eventTtl: number;
  readonly compactionInterval: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** `capstan up`: the whole product in one process. */
export function upCommand(): Command {
  const command = new Command("up")
    .description("Run everything in one process: the embedded Kubernetes API, the controllers and the dashboard.")
    .addOption(setting("--data-dir <dir>", "where state is kept").default(".capstan"))
    .addOption(
      setting("--api-port <port>", "port of the Kubernetes API, 0 for any free one").argParser(parsePort).default(6443),
    )
    .addOption(
      setting("--http-port <port>", "port of dashboard, registry and metrics, 0 for any free one")
        .argParser(parsePort)
        .default(8080),
    )
    .addOption(
      setting("--image <image>", "containers of this image run as processes").default(`capstan:${packageFile.version}`),
    )
    .addOption(
      setting(
        "--processes <which>",
        "which containers run as processes of this machine: own, or all that have a command",
      )
        .choices(["own", "all"])
        .default("own"),
    )
    .addOption(
      setting("--event-ttl <duration>", "how long Events are kept after they were last written")
        .argParser(parseDurationFlag)
        .default(defaultEventTtlMs, "1h"),
    )
    .addOption(
      setting("--compaction-interval <duration>", "how long the API remembers changes, for watches that come back")
        .argParser(parseDurationFlag)
        .default(defaultHistoryLimits.maxAgeMs, "5m"),
    )
    .addOption(setting("--demo", "lay out the demo, once; what stands there afterwards is yours").default(false))
    .addOption(
      setting("--log-level <level>", "what to log").choices(["debug", "info", "warn", "error"]).default("warn"),
    )
    .addOption(setting("--log-format <format>", "how to log").choices(["pretty", "json"]).default("pretty"))
    .addHelpText(
      "after",
      "\nExamples:\n  capstan up\n  capstan up --demo --data-dir /tmp/try --api-port 0 --http-port 0\n",
    );
  return withSystemFlags(command).action((flags: UpFlags) => failClearly(() => up(flags, command)));
}

async function up(flags: UpFlags, command: Command): Promise<void> {
  const startedAt = systemEnv.monotonicMs();
  const classRuntimes = classRuntimeSettingsOf(flags);
  const registry = registrySettingsOf(flags);
  const traces = traceSettingsOf(flags);
  const dataDir = holdDataDir(flags.dataDir);
  const readyFile = join(dataDir.path, "ready.json");
  rmSync(readyFile, { force: true });
  const stopAsked = signalled();
  const starting = startControlPlane({
    env: systemEnv,
    version: packageFile.version,
    dataDir: dataDir.path,
    image: flags.image,
    processes: flags.processes,
    command: [process.execPath, process.argv[1] ?? ""],
    searchPath: process.env["PATH"] ?? "",
    threads: threadPrograms(),
    baseUrls: baseUrlsOf(flags),
    actions: actionSettingsOf(flags),
    classRuntimes,
    registry,
    database: databaseLocationOf(flags, dataDir.path),
    ...(traces && { traces }),
    ...(flags.debugPort !== undefined && { debugPort: flags.debugPort }),
    grpcPort: { port: flags.grpcPort, isChosen: command.getOptionValueSource("grpcPort") !== "default" },
    apiPort: flags.apiPort,
    eventTtlMs: flags.eventTtl,
    history: historyOf(flags.compactionInterval),
    httpPort: flags.httpPort,
    assets: readDashboard(),
    demo: flags.demo,
    objects: flags.demo ? readDemo() : [],
    log: logToStandardError(flags.logLevel, flags.logFormat),
  });
  let plane: ControlPlane;
  try {
    plane = await starting;
  } catch (error) {
    dataDir.release();
    throw portTaken(error) ?? mendable(error);
  }
  const startedInMs = Math.round(systemEnv.monotonicMs() - startedAt);
  const { kubeconfig, api, http, grpc, registry: registryUrl } = plane;
  writeFileSync(
    readyFile,
    `${JSON.stringify({ pid: process.pid, kubeconfig, api, http, grpc, registry: registryUrl, startedInMs })}\n`,
  );
  process.stdout.write(welcome({ ...plane, startedInMs, dataDir: dataDir.path, demo: flags.demo }));
  await stopAsked;
  rmSync(readyFile, { force: true });
  endAfter(stopTimeoutMs);
  await plane.stop();
  dataDir.release();
}

const stopTimeoutMs = 9_000;

/** A part that does not let go must not keep the process: everything acknowledged is on disk already. */
function endAfter(delayMs: number): void {
  systemEnv.setTimer(delayMs, () => {
    process.stderr.write("capstan: something did not stop in time; everything that was acknowledged is saved\n");
    process.exit(0);
  });
}

function portTaken(error: unknown): Failure | undefined {
  const { code, port } = error as { code?: string; port?: number };
  if (code !== "EADDRINUSE") return undefined;
  return new Failure(
    `port ${port} is in use by another program; choose another with --api-port, --http-port or --grpc-port (0 takes any free one)`,
  );
}
