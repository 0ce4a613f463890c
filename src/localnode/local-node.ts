import { join } from "node:path";
import type { Container } from "../api/builtin/pod-spec.ts";
import type { PodLogs } from "../apiserver/subresources/log.ts";
import type { Client } from "../client/client.ts";
import type { Env } from "../env/env.ts";
import type { BackoffOptions } from "../runtime/backoff.ts";
import type { Controller } from "../runtime/controller.ts";
import type { Logger } from "../runtime/log.ts";
import { autoscalerController } from "./autoscaler/controller.ts";
import { cronJobController } from "./cron-job/controller.ts";
import { daemonSetController } from "./daemon-set/controller.ts";
import { deploymentController } from "./deployment/controller.ts";
import { disruptionController } from "./disruption/controller.ts";
import { garbageCollector } from "./garbage-collector/controller.ts";
import { MetadataMonitors } from "./garbage-collector/metadata-monitors.ts";
import { jobController } from "./job/controller.ts";
import { namespaceController } from "./namespace/controller.ts";
import { rootCaController, serviceAccountController } from "./namespace/defaults.ts";
import { nodeController } from "./node/node-controller.ts";
import { schedulerController } from "./node/scheduler.ts";
import { taintEvictionController } from "./node/taint-eviction.ts";
import { defaultRestartBackoff, type RestartBackoff } from "./pod/container-slot.ts";
import { createKubelet } from "./pod/kubelet.ts";
import { standIn } from "./pod/stood-in.ts";
import { placesIn } from "./process/places.ts";
import type { Threads } from "./process/prepare.ts";
import { createProcesses } from "./process/processes.ts";
import { quotaController } from "./quota/controller.ts";
import { replicaSetController, replicationController } from "./replica-set/controller.ts";
import { endpointsController } from "./service/controller.ts";
import { statefulSetController } from "./stateful-set/controller.ts";
import { claimController } from "./storage/claims.ts";
import { volumeController } from "./storage/volumes.ts";

/** What a node and kube-controller-manager would do, for the embedded API: it makes workloads come alive. */
export interface LocalNodeOptions {
  readonly env: Env;
  readonly version: string;
  /** Files of pods and logs are kept in its folder `node`. */
  readonly dataDir: string;
  /** Containers of this image are run as processes; all others are stood in for. */
  readonly image: string;
  /** `all`: so is every container that has a command. */
  readonly processes: "own" | "all";
  /** How this program is started: `capstan` in a container is the same. */
  readonly command: readonly string[];
  /** Where other programs are looked for. */
  readonly path?: string;
  /** Commands of our own program that are small enough to run as a thread of this one, each with its module. */
  readonly threads?: Threads;
  readonly log?: Logger;
  readonly nodeName?: string;
  readonly maxPods?: number;
  readonly restartBackoff?: RestartBackoff;
  readonly jobBackoff?: BackoffOptions;
}

export interface LocalNode {
  /** For the API server, which has to be started first. */
  readonly podLogs: PodLogs;
  /** For one manager; they write as whoever the client is, which must be an administrator. To be asked for once. */
  controllers(api: ApiAccess): readonly Controller[];
  /** After the manager has stopped, and before the server does: ends what still runs. */
  stop(): Promise<void>;
}

/** How the node and its pods reach the API server. */
export interface ApiAccess {
  readonly client: Client;
  /** `https://127.0.0.1:6443` */
  readonly serverUrl: string;
  /** PEM: by which pods know the server. */
  readonly caCertificate: string;
}

export function createLocalNode(options: LocalNodeOptions): LocalNode {
  const { env, nodeName = "localnode", maxPods = defaultMaxPods } = options;
  let api: ApiAccess | undefined;
  let monitors: MetadataMonitors | undefined;
  const places = placesIn(join(options.dataDir, "node"));
  const processes = createProcesses({
    env,
    folder: join(options.dataDir, "node"),
    image: options.image,
    which: options.processes,
    command: options.command,
    path: options.path ?? defaultPath,
    threads: options.threads ?? {},
    nodeAddress,
    api() {
      if (api === undefined) throw new Error("the local node was not told yet how to reach the API");
      return api;
    },
  });
  const needsProcess = (container: Container): boolean => processes.isFor(container);
  const kubelet = createKubelet({
    env,
    nodeName,
    nodeAddress,
    backoff: options.restartBackoff ?? defaultRestartBackoff,
    needsProcess,
    start: (request) => (needsProcess(request.container) ? processes.start(request) : standIn(env, request)),
    onFirstPods: (uids) => processes.keepOnly(uids),
    onGone: (uid) => processes.forget(uid),
  });
  return {
    podLogs: processes.logs,
    controllers(access) {
      api = access;
      const { client } = access;
      monitors = new MetadataMonitors(env, client, options.log);
      return [
        nodeController({ name: nodeName, address: nodeAddress, maxPods, version: options.version }),
        schedulerController(client, maxPods),
        taintEvictionController(),
        kubelet.controller,
        serviceAccountController,
        rootCaController(access.caCertificate),
        replicaSetController,
        replicationController,
        deploymentController,
        jobController(options.jobBackoff),
        cronJobController,
        statefulSetController,
        daemonSetController,
        endpointsController,
        disruptionController,
        quotaController(client, monitors),
        autoscalerController,
        claimController(places.claim),
        volumeController(places.claim),
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
const defaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
const defaultMaxPods = 1_000;
const stopGraceMs = 3_000;
