import { readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { clientInCluster } from "../../client/connect.ts";
import { carryOut } from "../../controllers/action-executor/carry-out.ts";
import { decodeOrder, encodeResult, type Outcome } from "../../controllers/action-executor/order.ts";
import { systemEnv, wakefulEnv } from "../../env/system.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { Failure, failClearly } from "../failure.ts";
import { setting } from "../settings.ts";

interface ActFlags extends ClusterFlags {
  readonly order: string;
  readonly result: string;
}

/** `capstan act`: what an action's Job runs; not for people. */
export function actCommand(): Command {
  const command = new Command("act")
    .description("Carry out one order of the action executor. Jobs run this; people create a KubernetesExecution.")
    .addOption(setting("--order <file>", "the order, mounted from the Job's Secret").makeOptionMandatory())
    .addOption(setting("--result <file>", "where the result goes").default("/dev/termination-log"))
    .addHelpText("after", "\nExit codes: 0 done, 1 failed, 2 refused: trying again is of no use.\n");
  return withClusterFlags(command).action((flags: ActFlags) => failClearly(() => act(flags)));
}

async function act(flags: ActFlags): Promise<void> {
  const order = readOrder(flags.order);
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const named = flags.kubeconfig ?? flags.dataDir ?? process.env["KUBECONFIG"];
  const inCluster = named === undefined && host && port;
  const { client, close } = inCluster ? await clientInCluster({ env: systemEnv, host, port }) : await connectTo(flags);
  try {
    // Waiting for pods to go is work: nothing else may keep this process alive meanwhile.
    const result = await carryOut(order, { env: wakefulEnv, client, signal: stop.signal });
    const text = encodeResult(result);
    writeFileSync(flags.result, text);
    process.stdout.write(`${result.outcome}: ${result.message}\n`);
    process.exitCode = exitCodes[result.outcome];
  } finally {
    await close();
  }
}

const exitCodes: Readonly<Record<Outcome, number>> = { Succeeded: 0, AlreadyDone: 0, Failed: 1, Refused: 2 };

function readOrder(file: string): Extract<ReturnType<typeof decodeOrder>, { ok: true }>["value"] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(`--order ${file} cannot be read: ${(error as Error).message}`, 2);
  }
  const order = decodeOrder(text);
  if (!order.ok) throw new Failure(`--order ${file}: ${order.message}`, 2);
  return order.value;
}
