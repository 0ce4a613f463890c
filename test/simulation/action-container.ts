import { Secret } from "../../src/api/builtin/configuration.ts";
import { carryOut } from "../../src/controllers/action-executor/carry-out.ts";
import { decodeOrder, encodeResult } from "../../src/controllers/action-executor/order.ts";
import { parsedOrThrow } from "../../src/kube/parsed.ts";
import type { ContainerRun, RunState, StartRun } from "../../src/localnode/pod/container-run.ts";
import { standIn } from "../../src/localnode/pod/stood-in.ts";
import type { SimulatedApi } from "./simulated-api.ts";

/** The node of the actions: a container of our image does what `capstan act` does, and a Job's pod may be started twice. */
export const actionContainers =
  (api: SimulatedApi): StartRun =>
  (request) => {
    const { image } = request.container;
    return image === actionImage ? runOrder(api, request) : standIn(api.env, request);
  };

export const actionImage = "capstan:simulation";

function runOrder(api: SimulatedApi, { pod, onChange }: Parameters<StartRun>[0]): ContainerRun {
  const { env } = api;
  const startedAt = env.now();
  let state: RunState = { kind: "Running", startedAt, ready: true };
  const exit = (exitCode: number, message: string): void => {
    if (state.kind === "Exited") return;
    const reason = exitCode === 0 ? "Completed" : "Error";
    state = { kind: "Exited", exitCode, reason, message, startedAt, finishedAt: env.now() };
    onChange();
  };
  const { namespace = "" } = pod.metadata;
  const secretName = pod.spec.volumes?.find(({ secret }) => secret)?.secret?.secretName ?? "";
  const client = api.clientOf("hands");
  const act = async (): Promise<void> => {
    const secret = await client.get(Secret, { namespace, name: secretName });
    const order = parsedOrThrow(decodeOrder(Buffer.from(secret.data?.["order.json"] ?? "", "base64").toString()));
    const hands = { env, client: api.clientOf(`hands#${order.token}`), signal: new AbortController().signal };
    // F47: Kubernetes may start a pod twice, and the token is what makes that harmless.
    if (env.random() < 0.5) await carryOut(order, hands);
    const result = await carryOut(order, hands);
    const isRefused = result.outcome === "Refused" || result.outcome === "Failed";
    exit(isRefused ? 2 : 0, encodeResult(result));
  };
  env.setTimer(200, () => void act().catch((error: unknown) => exit(1, String(error))));
  return {
    get state() {
      return state;
    },
    stop: () => exit(143, ""),
  };
}
