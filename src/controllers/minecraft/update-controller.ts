import { ConfigMap, Secret } from "../../api/builtin/configuration.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim, VolumeSnapshot } from "../../api/builtin/volume.ts";
import { StatefulSet } from "../../api/builtin/workloads.ts";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { annotations } from "../../api/well-known.ts";
import type { Env } from "../../env/env.ts";
import { type ActContext, type Controller, defineController } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { resourceVersionChanged } from "../../runtime/predicates.ts";
import { fieldManager } from "./children.ts";
import type { MinecraftMetrics } from "./metrics.ts";
import type { Outside } from "./outside.ts";
import { listName } from "./plugin-list.ts";
import { planUpdate, type UpdatePlan, type UpdateSnapshot } from "./update-plan.ts";
import { type StepOutcome, updateStatus } from "./update-status.ts";
import { backUp, checkPlugins, Farewells } from "./update-steps.ts";
import { isAskedFor } from "./update-window.ts";

export interface UpdateControllerOptions {
  readonly env: Env;
  readonly outside: Outside;
  readonly metrics: MinecraftMetrics;
}

const stepTimeoutMs = 10 * 60_000;

/** Applies updates, step by step, inside the maintenance window or when asked to. No step waits inside a reconcile. */
export function updateController({ env, outside, metrics }: UpdateControllerOptions): Controller {
  const farewells = new Farewells();
  return defineController({
    name: "update",
    reconciles: PaperMCServer,
    predicates: [resourceVersionChanged],
    owns: [StatefulSet],
    reads: [Plugin, ConfigMap],
    fieldManager,
    concurrency: 16,
    reconcileTimeoutMs: stepTimeoutMs,
    permissions: [
      allow(PaperMCServer, ["patch"]),
      allow(VolumeSnapshot, ["get", "list", "create"]),
      allow(PersistentVolumeClaim, ["get", "list"]),
      allow(Pod, ["get"]),
      allow(Secret, ["get"]),
    ],
    observe: (server: PaperMCServer, { read, now }): UpdateSnapshot => {
      const { name, namespace = "" } = server.metadata;
      return {
        server,
        now,
        set: read.get(StatefulSet, { namespace, name }),
        list: read.get(ConfigMap, { namespace, name: listName(server) }),
        plugins: read.list(Plugin, { namespace }),
      };
    },
    evaluate: (snapshot) => ({ plan: planUpdate(snapshot), snapshot }),
    act: ({ plan, snapshot }, context) => metrics.reconciled("update", () => act(plan, snapshot, context)),
    reduce: ({ decision: { plan, snapshot }, outcome }) => {
      const { ended, ...result } = updateStatus(snapshot, plan, outcome);
      return ended === undefined ? result : { ...result, afterWrite: () => metrics.updated(ended) };
    },
  });

  async function act(
    plan: UpdatePlan,
    snapshot: UpdateSnapshot,
    context: ActContext<PaperMCServer>,
  ): Promise<StepOutcome> {
    const { object: server, now } = context;
    // A request is taken away once the status says that its update has begun, so that neither of them is ever lost.
    const isTaken = server.status?.updateProgress !== undefined && isAskedFor(server, "applyNow", now) !== "No";
    if (isTaken || (plan.kind === "Idle" && plan.hasOldRequest)) await forgetRequest(context);
    switch (plan.kind) {
      case "Prepare":
        switch (plan.step) {
          case "backup":
            return backUp(env, plan.elapsedMs, context);
          case "plugins":
            return checkPlugins(snapshot, outside, plan.elapsedMs, context.signal);
          case "shutdown":
            return farewells.sayNext(env, snapshot, plan.elapsedMs, context);
        }
        break;
      default:
        return { kind: "None" };
    }
    return { kind: "None" };
  }
}

async function forgetRequest({ object, write }: ActContext<PaperMCServer>): Promise<void> {
  const { uid } = object.metadata;
  const value = { metadata: { uid, annotations: { [annotations.applyNow]: null } } };
  const answer = await write.patch(PaperMCServer, object.metadata, { type: "merge", value });
  if (!answer.ok && answer.reason !== "NotFound")
    throw new Error(`the request could not be taken away: ${answer.message}`);
}
