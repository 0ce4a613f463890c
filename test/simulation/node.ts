import type { Client } from "../../src/client/client.ts";
import type { Env } from "../../src/env/env.ts";
import { deploymentController } from "../../src/localnode/deployment/controller.ts";
import { garbageCollector } from "../../src/localnode/garbage-collector/controller.ts";
import { MetadataMonitors } from "../../src/localnode/garbage-collector/metadata-monitors.ts";
import { jobController } from "../../src/localnode/job/controller.ts";
import { serviceAccountController } from "../../src/localnode/namespace/defaults.ts";
import { nodeController } from "../../src/localnode/node/node-controller.ts";
import { schedulerController } from "../../src/localnode/node/scheduler.ts";
import type { StartRun } from "../../src/localnode/pod/container-run.ts";
import { defaultRestartBackoff } from "../../src/localnode/pod/container-slot.ts";
import { createKubelet } from "../../src/localnode/pod/kubelet.ts";
import { standIn } from "../../src/localnode/pod/stood-in.ts";
import { replicaSetController } from "../../src/localnode/replica-set/controller.ts";
import { endpointsController } from "../../src/localnode/service/controller.ts";
import { statefulSetController } from "../../src/localnode/stateful-set/controller.ts";
import type { Controller } from "../../src/runtime/controller.ts";

/** The local node's own controllers, without processes and disks: containers are stood in for, as the node itself can. */
export function nodeControllers(env: Env, client: Client, start?: StartRun): readonly Controller[] {
  const kubelet = createKubelet({
    env,
    nodeName: name,
    nodeAddress: address,
    backoff: defaultRestartBackoff,
    needsProcess: () => false,
    start: start ?? ((request) => standIn(env, request)),
    onFirstPods: () => undefined,
    onGone: () => undefined,
  });
  return [
    nodeController({ name, address, maxPods, version: "0.0.0" }),
    schedulerController(client, maxPods),
    kubelet.controller,
    serviceAccountController,
    replicaSetController,
    deploymentController,
    jobController(undefined),
    statefulSetController,
    endpointsController,
    ...collector(env, client),
  ];
}

/** Enough for stories without workloads: what has lost its owner goes. */
export const collector = (env: Env, client: Client): readonly Controller[] => [
  garbageCollector(client, new MetadataMonitors(env, client)),
];

const name = "simulated";
const address = "127.0.0.1";
const maxPods = 100;
