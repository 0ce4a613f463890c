import type { Container } from "../api/builtin/pod-spec.ts";
import type { Client } from "../client/client.ts";
import type { Env } from "../env/env.ts";
import type { BackoffOptions } from "../runtime/backoff.ts";
import type { Controller } from "../runtime/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { cronJobController } from "./cron-job/controller.ts";
import { deploymentController } from "./deployment/controller.ts";
import { garbageCollector } from "./garbage-collector/controller.ts";
import { MetadataMonitors } from "./garbage-collector/metadata-monitors.ts";
import { jobController } from "./job/controller.ts";
import { namespaceController } from "./namespace/controller.ts";
import { rootCaController, serviceAccountController } from "./namespace/defaults.ts";
import { nodeController } from "./node/node-controller.ts";
import { schedulerController } from "./node/scheduler.ts";
import { defaultRestartBackoff, type RestartBackoff } from "./pod/container-slot.ts";
import { createKubelet } from "./pod/kubelet.ts";
import { standIn } from "./pod/stood-in.ts";
import { replicaSetController } from "./replica-set/controller.ts";

/** What a node and kube-controller-manager would do, for the embedded API: it makes workloads come alive. */
export interface LocalNodeOptions {
  readonly env: Env;
  readonly version: string;
  readonly log?: Logger;
  readonly nodeName?: string;
  readonly maxPods?: number;
  readonly restartBackoff?: RestartBackoff;
  readonly jobBackoff?: BackoffOptions;
}

export interface LocalNode {
  /** All of them, for one manager; they write as whoever the client is, which must be an administrator. */
  controllers(api: ApiAccess): readonly Controller[];
  /** After the manager has stopped: ends what still runs. */
  stop(): Promise<void>;
}

/** How the node and its pods reach the API server. */
export interface ApiAccess {
  readonly client: Client;
  /** PEM: by which pods know the server. */
  readonly caCertificate: string;
}

export function createLocalNode(options: LocalNodeOptions): LocalNode {
  const { env, nodeName = "localnode", maxPods = defaultMaxPods } = options;
  const needsProcess = (_container: Container): boolean => false;
  const kubelet = createKubelet({
    env,
    nodeName,
    nodeAddress,
    backoff: options.restartBackoff ?? defaultRestartBackoff,
    needsProcess,
    start: (request) => standIn(env, request),
    onGone: () => undefined,
  });
  let monitors: MetadataMonitors | undefined;
  return {
    controllers({ client, caCertificate }) {
      monitors = new MetadataMonitors(env, client, options.log);
      return [
        nodeController({ name: nodeName, address: nodeAddress, maxPods, version: options.version }),
        schedulerController(() => client, maxPods),
        kubelet.controller,
        serviceAccountController,
        rootCaController(caCertificate),
        replicaSetController,
        deploymentController,
        jobController(options.jobBackoff),
        cronJobController,
        garbageCollector(client, monitors),
        namespaceController(client, monitors),
      ];
    },
    async stop() {
      await kubelet.stop(stopGraceMs);
      await monitors?.close();
    },
  };
}

const nodeAddress = "127.0.0.1";
const defaultMaxPods = 1_000;
const stopGraceMs = 5_000;
