import { Pod } from "../../api/builtin/pod.ts";
import type { Container } from "../../api/builtin/pod-spec.ts";
import type { Env } from "../../env/env.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { keyText } from "../../runtime/cache.ts";
import { type Controller, defineReconciler, type ReconcileContext } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, type Result, requeue } from "../../runtime/result.ts";
import { type Channel, channel } from "../../runtime/source.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { kubelet } from "../identity.ts";
import { isPodFinished } from "../workloads/pod-facts.ts";
import { PodAddressBook } from "./address-book.ts";
import type { StartRun } from "./container-run.ts";
import type { RestartBackoff } from "./container-slot.ts";
import { podEvents } from "./pod-events.ts";
import { byAddress } from "./pod-index.ts";
import { podStatus } from "./pod-status.ts";
import { PodWorker } from "./pod-worker.ts";
import { parseSimulation, simulateAnnotation } from "./simulate.ts";

export interface KubeletOptions {
  readonly env: Env;
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly backoff: RestartBackoff;
  readonly start: StartRun;
  readonly needsProcess: (container: Container) => boolean;
  /** Told once, which pods there are when the node begins. */
  readonly onFirstPods: (uids: ReadonlySet<string>) => void;
  /** A pod has left the node: what was kept for it can go. */
  readonly onGone: (uid: string) => void;
}

export interface Kubelet {
  readonly controller: Controller;
  /** Ends everything that runs. */
  stop(graceMs: number): Promise<void>;
}

/** Runs the pods of one node and says how they are. */
export function createKubelet(options: KubeletOptions): Kubelet {
  const pods = new NodePods(options);
  const controller = defineReconciler({
    name: "kubelet",
    reconciles: Pod,
    indexes: [byAddress],
    sources: [pods.changes],
    concurrency: 8,
    fieldManager: kubelet,
    permissions: [allow(Pod, ["patch"], "status"), allow(Pod, ["delete"])],
    reconcile: (key, context) => pods.reconcile(key, context),
  });
  return { controller, stop: (graceMs) => pods.stop(graceMs) };
}

class NodePods {
  readonly changes: Channel = channel();
  readonly #options: KubeletOptions;
  readonly #workers = new Map<string, PodWorker>();
  /** Pods that have ended and are still there: their logs are kept, by the uid under which they are found. */
  readonly #remains = new Map<string, string>();
  readonly #addresses: PodAddressBook;
  /** Woken whenever something in a pod changes, for a stop that waits for the last one. */
  #wake: () => void = () => undefined;
  #isStopping = false;
  #hasBegun = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#addresses = new PodAddressBook(options.nodeAddress);
  }

  async reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
    if (this.#isStopping) return done;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#options.onFirstPods(new Set(context.read.list(Pod).map(({ metadata }) => metadata.uid ?? "")));
    }
    const pod = context.read.get(Pod, key);
    const known = this.#workers.get(keyText(key));
    if (known !== undefined && known.uid !== pod?.metadata.uid) {
      // Removed by force: nobody waits for its containers any more, but they must not go on.
      known.stop(0);
      if (!known.isStopped) return done;
      this.#forget(key, known);
    }
    const remains = this.#remains.get(keyText(key));
    if (remains !== undefined && remains !== pod?.metadata.uid) {
      this.#remains.delete(keyText(key));
      this.#options.onGone(remains);
    }
    if (pod === undefined || pod.spec.nodeName !== this.#options.nodeName) return done;
    if (known === undefined && isPodFinished(pod)) {
      this.#remains.set(keyText(key), pod.metadata.uid ?? "");
      return this.#releaseFinished(pod, context);
    }
    const worker = this.#workers.get(keyText(key)) ?? this.#begin(key, pod, context);
    worker.sync(pod);
    return this.#report(key, pod, worker, context);
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    for (const worker of this.#workers.values()) worker.stop(graceMs);
    const isStopped = (): boolean => [...this.#workers.values()].every((worker) => worker.isStopped);
    while (!isStopped()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async #report(key: ObjectKey, pod: Pod, worker: PodWorker, context: ReconcileContext): Promise<Result> {
    const address = this.#addresses.of(pod, context.read, this.#options.needsProcess);
    // What happens while the status is on its way is for the next time: only what was told may be acted upon.
    const { isStopped, isOver } = worker;
    const status = podStatus(worker, { host: this.#options.nodeAddress, pod: address }, context.now);
    const written = await writeStatus(Pod, pod, status, context);
    if (written === "Outdated") return requeue;
    if (written === "Gone") return done;
    for (const event of podEvents(pod, status)) context.events.record(pod, event);
    const isLeaving = pod.metadata.deletionTimestamp !== undefined;
    if (isLeaving && isStopped) {
      const gone = await context.write.delete(Pod, pod, { gracePeriodSeconds: 0 });
      if (gone.ok) this.#forget(key, worker);
      return gone.ok ? done : requeue;
    }
    if (!isLeaving && isOver) this.#forget(key, worker, "keep its files");
    return done;
  }

  async #releaseFinished(pod: Pod, { write }: ReconcileContext): Promise<Result> {
    if (pod.metadata.deletionTimestamp === undefined) return done;
    const gone = await write.delete(Pod, pod, { gracePeriodSeconds: 0 });
    return gone.ok ? done : requeue;
  }

  #begin(key: ObjectKey, pod: Pod, { events }: ReconcileContext): PodWorker {
    const { env, backoff, start, needsProcess } = this.#options;
    const simulation = parseSimulation(pod.metadata.annotations?.[simulateAnnotation]);
    if (!simulation.ok) events.record(pod, { type: "Warning", reason: "BadSimulation", message: simulation.message });
    const onChange = (): void => {
      this.#wake();
      if (!this.#isStopping) this.changes.send(key);
    };
    const worker = new PodWorker(pod, { env, backoff, start, needsProcess, onChange });
    this.#workers.set(keyText(key), worker);
    return worker;
  }

  #forget(key: ObjectKey, worker: PodWorker, files?: "keep its files"): void {
    this.#workers.delete(keyText(key));
    this.#addresses.release(worker.uid);
    if (files === undefined) this.#options.onGone(worker.uid);
    else this.#remains.set(keyText(key), worker.uid);
  }
}
