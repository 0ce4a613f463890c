import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Argument, Command } from "commander";
import { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { ApiError, isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { specHashOf } from "../../controllers/action-executor/spec-hash.ts";
import { systemEnv } from "../../env/system.ts";
import { formatTime } from "../../kube/time.ts";
import { fromCluster, names, namespaceOption } from "../candidates.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { asking, type Supplier } from "../completion/asking.ts";
import { Failure, failClearly } from "../failure.ts";

interface DecisionFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly reason?: string;
}

/** `capstan approve EXECUTION` and `capstan reject EXECUTION`: the word of whoever the credential says it is. */
export const approveCommand = (): Command => decisionCommand("approve", "Approved");
export const rejectCommand = (): Command => decisionCommand("reject", "Rejected");

function decisionCommand(name: string, decision: "Approved" | "Rejected"): Command {
  const command = new Command(name)
    .description(
      `${name === "approve" ? "Approve" : "Reject"} an execution that waits for somebody's word. The requester cannot.`,
    )
    .addArgument(asking(new Argument("<execution>", "the name of the KubernetesExecution"), waitingExecutions))
    .addOption(namespaceOption("-n, --namespace <namespace>", "its namespace"))
    .option("--reason <text>", "why, in your words")
    .addHelpText(
      "after",
      `\nBeside \`capstan up\` it speaks for the second person, <data-dir>/approver.kubeconfig, unless --kubeconfig or KUBECONFIG says who.\n\nExamples:\n  capstan ${name} scale-webapp -n shop --reason "agreed in the morning round"\n`,
    );
  return withClusterFlags(command).action((execution: string, flags: DecisionFlags) =>
    failClearly(() => decide(execution, decision, flags)),
  );
}

/** Only those that a word would move. */
const waitingExecutions: Supplier = ({ flags }) =>
  fromCluster(withApprover(flags), async (client, namespace) => {
    const { items } = await client.list(KubernetesExecution, { namespace });
    return names({ items: items.filter(isWaiting) });
  });

const isWaiting = ({ status }: KubernetesExecution): boolean =>
  status?.phase === "waiting_approval" && status.approval === undefined;

async function decide(name: string, decision: "Approved" | "Rejected", flags: DecisionFlags): Promise<void> {
  const { client, close, namespace: current } = await connectTo(withApprover(flags));
  try {
    const key = { namespace: flags.namespace ?? current, name };
    const execution = await client.get(KubernetesExecution, key).catch((error: unknown) => {
      if (isNotFound(error)) throw new Failure(`there is no KubernetesExecution ${name} in namespace ${key.namespace}`);
      throw error;
    });
    const { phase = "new", approval } = execution.status ?? {};
    if (approval) throw new Failure(`${approval.by} has decided already: ${approval.decision}`);
    if (phase !== "waiting_approval") throw new Failure(`${name} does not wait for approval: its phase is ${phase}`);
    const word = {
      decision,
      by: await ownName(client),
      at: formatTime(systemEnv.now()),
      specHash: specHashOf(execution.spec),
      ...(flags.reason !== undefined && { reason: flags.reason }),
    };
    const { uid, resourceVersion } = execution.metadata;
    await client.patch(
      KubernetesExecution,
      key,
      { type: "merge", value: { metadata: { uid, resourceVersion }, status: { approval: word } } },
      { subresource: "status" },
    );
    process.stdout.write(`${name}: ${decision} by ${word.by}\n`);
  } catch (error) {
    if (error instanceof ApiError) throw new Failure(`the server refused: ${error.message}${hintOf(error, flags)}`);
    throw error;
  } finally {
    await close();
  }
}

/** On a laptop the second person has a credential of their own, which is the one to decide with. */
function withApprover<Flags extends ClusterFlags>(flags: Flags): Flags & ClusterFlags {
  if (flags.kubeconfig !== undefined || (flags.dataDir === undefined && process.env["KUBECONFIG"])) return flags;
  const kubeconfig = join(resolve(flags.dataDir ?? ".capstan"), "approver.kubeconfig");
  return existsSync(kubeconfig) ? { ...flags, kubeconfig } : flags;
}

/** Whoever asked for it may have another credential at hand, and not know. */
function hintOf({ status }: ApiError, flags: DecisionFlags): string {
  const used = flags.kubeconfig ?? process.env["KUBECONFIG"];
  if (status !== 403 || used === undefined) return "";
  const second = join(dirname(resolve(used)), "approver.kubeconfig");
  return existsSync(second) && second !== resolve(used)
    ? `\nThe second person of this data directory: --kubeconfig ${second}`
    : "";
}

/** Who the server takes us for; it replaces whatever we would say ourselves. */
async function ownName(client: Client): Promise<string> {
  const answer = (await client.raw({
    method: "POST",
    target: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers: { "content-type": "application/json" },
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  })) as { readonly status?: { readonly userInfo?: { readonly username?: string } } };
  return answer.status?.userInfo?.username ?? "";
}
