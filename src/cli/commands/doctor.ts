import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { type ClusterClient, clientInCluster } from "../../client/connect.ts";
import { CredentialError } from "../../client/connection-error.ts";
import { systemEnv } from "../../env/system.ts";
import { namespaceOption } from "../candidates.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { examineCluster } from "../doctor/cluster.ts";
import { examineDataDirectory, notedOnly } from "../doctor/data-directory.ts";
import { diagnose, type Finding, renderDiagnosis } from "../doctor/finding.ts";
import { examineMachine } from "../doctor/machine.ts";
import { createPatience } from "../doctor/patience.ts";
import { Failure, failClearly } from "../failure.ts";
import { type OutputFormat, outputOption, render } from "../output.ts";
import { parsePort, setting } from "../settings.ts";

interface DoctorFlags extends ClusterFlags {
  readonly apiPort: number;
  readonly httpPort: number;
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** `capstan doctor`: looks at a set-up and says the next step. Changes nothing. */
export function doctorCommand(): Command {
  const command = new Command("doctor")
    .description("Check this machine, the data directory and the cluster, and say what to do next.")
    .addOption(setting("--api-port <port>", "the port that `capstan up` would take").argParser(parsePort).default(6443))
    .addOption(
      setting("--http-port <port>", "the port that `capstan up` would take").argParser(parsePort).default(8080),
    )
    .addOption(namespaceOption("-n, --namespace <name>", "ask for permissions in this namespace only"))
    .addOption(outputOption())
    .addHelpText(
      "after",
      "\nExit codes: 0 nothing is wrong, 1 something is.\n\nExamples:\n  capstan doctor\n  capstan doctor --kubeconfig ~/.kube/config -o json\n",
    );
  return withClusterFlags(command).action((flags: DoctorFlags) => failClearly(() => doctor(flags)));
}

async function doctor(flags: DoctorFlags): Promise<void> {
  const { findings, isHeld } = await examineDataDirectory({ ...flags, dataDir: flags.dataDir ?? ".capstan" });
  const here = isClusterNamed(flags) ? findings.map(notedOnly) : findings;
  const diagnosis = diagnose([...(await examineMachine()), ...here, ...(await findCluster(flags, isHeld))]);
  const names = diagnosis.findings.map(({ check }) => check);
  const table = (isWide: boolean): string => renderDiagnosis(diagnosis, isWide);
  process.stdout.write(render({ value: diagnosis, names, table }, flags.output));
  if (!diagnosis.ok) process.exitCode = 1;
}

const isClusterNamed = ({ kubeconfig, dataDir }: DoctorFlags): boolean =>
  kubeconfig !== undefined || (dataDir === undefined && Boolean(process.env["KUBECONFIG"]));

/** A cluster that nobody has named and that is not there is no fault: `capstan up` brings one. */
async function findCluster(flags: DoctorFlags, isHeld: boolean): Promise<readonly Finding[]> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const isNamed = isClusterNamed(flags);
  const inPod = !isNamed && flags.dataDir === undefined && host && port ? { host, port } : undefined;
  const ofDataDir = join(resolve(flags.dataDir ?? ".capstan"), "kubeconfig");
  const usesDataDir = !isNamed && !inPod && (flags.dataDir !== undefined || existsSync(ofDataDir));
  if (usesDataDir && !isHeld) return noCluster("`capstan up` does not run on the data directory");
  if (!isNamed && !inPod && !usesDataDir && !existsSync(join(homedir(), ".kube", "config")))
    return noCluster("there is none yet");

  let cluster: ClusterClient;
  try {
    cluster = inPod ? await clientInCluster({ env: systemEnv, ...inPod }) : await connectTo(flags);
  } catch (error) {
    if (!(error instanceof Failure) && !(error instanceof CredentialError)) throw error;
    const next = "correct the file, or name another with --kubeconfig or KUBECONFIG";
    return [{ check: "kubeconfig", state: "wrong", message: error.message, next }, ...notLookedAt()];
  }
  try {
    const where = `${inPod ? "the pod's ServiceAccount" : "readable"}, for ${cluster.access.server}`;
    const { namespace } = flags;
    const patience = createPatience(systemEnv, clusterSilenceMs);
    const examined = await examineCluster({
      client: cluster.client,
      signal: patience.signal,
      heard: patience.heard,
      ...(namespace !== undefined && { namespace }),
    });
    patience.end();
    return [{ check: "kubeconfig", state: "ok", message: where }, ...examined];
  } finally {
    await cluster.close();
  }
}

const clusterSilenceMs = 20_000;

const noCluster = (message: string): readonly Finding[] => [
  { check: "kubeconfig", state: "skipped", message, next: "start `capstan up`, or name a cluster with --kubeconfig" },
  ...notLookedAt(),
];

const notLookedAt = (): readonly Finding[] =>
  (["api", "kinds", "permissions"] as const).map((check) => ({ check, state: "skipped", message: "not looked at" }));
