import type { ConfigMap } from "../../api/builtin/configuration.ts";
import type { StatefulSet } from "../../api/builtin/workloads.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { labels } from "../../api/well-known.ts";
import { labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import { controllerName } from "./children.ts";
import { imageText, readImage, serverImage } from "./paper-image.ts";
import { type ListedPlugin, listFile, listPlugins, readPluginList } from "./plugin-list.ts";

export interface ServerSnapshot {
  readonly server: PaperMCServer;
  readonly set: StatefulSet | undefined;
  readonly list: ConfigMap | undefined;
  /** All of the namespace. */
  readonly plugins: readonly Plugin[];
}

export type ServerPlan =
  | { readonly kind: "Wait"; readonly message: string }
  | {
      readonly kind: "Run";
      readonly image: string;
      readonly listed: readonly ListedPlugin[];
      /** The ports that matching plugins open. */
      readonly ports: readonly number[];
      /** There was nothing before, so nothing has to wait for a window. */
      readonly isFirst: boolean;
      /** Somebody else made the workload; it is taken over with the next update, not with a restart in between. */
      readonly isForeign: boolean;
    };

/** What is to run now. Another version is only run when an update says so: its progress in the status is the order. */
export function planServer({ server, set, list, plugins }: ServerSnapshot): ServerPlan {
  const image = imageFor(server, set);
  if (image === undefined)
    return { kind: "Wait", message: server.status?.updateBlocked?.reason ?? "No version has been chosen yet" };
  const isFirst = set === undefined;
  const isMoving = isOrdered(server);
  const listed = readPluginList(list?.data?.[listFile]);
  return {
    kind: "Run",
    image,
    listed: listPlugins(wantedPlugins(server, isFirst, listed), plugins, listed),
    ports: portsOf(server, plugins),
    isFirst,
    isForeign: set !== undefined && isForeign(set) && !isMoving,
  };
}

/** Whether somebody else made it, such as the original operator. */
export const isForeign = ({ metadata }: StatefulSet): boolean =>
  metadata.labels?.[labels.controller] !== controllerName;

/** Whether an update has come to the point where the new version is to run. */
export const isOrdered = ({ status }: PaperMCServer): boolean =>
  status?.updateProgress?.step === "restart" || status?.updateProgress?.step === "verify";

function imageFor(server: PaperMCServer, set: StatefulSet | undefined): string | undefined {
  const { status } = server;
  const progress = status?.updateProgress;
  if (progress && isOrdered(server)) return imageText({ version: progress.version, build: progress.build });
  if (progress?.step === "rollback" && progress.previousImage !== undefined) return progress.previousImage;
  const running = serverImage(set);
  if (running !== undefined) return running;
  if (status?.currentVersion !== undefined)
    return imageText({
      version: status.currentVersion,
      ...(status.currentBuild !== undefined && { build: status.currentBuild }),
    });
  if (status?.desiredVersion === undefined) return undefined;
  return imageText({
    version: status.desiredVersion,
    ...(status.desiredBuild !== undefined && { build: status.desiredBuild }),
  });
}

function wantedPlugins(
  server: PaperMCServer,
  isFirst: boolean,
  listed: readonly ListedPlugin[],
): readonly { readonly name: string; readonly version: string }[] {
  const { plugins = [], availableUpdate, updateProgress } = server.status ?? {};
  if (isOrdered(server) && availableUpdate)
    return availableUpdate.plugins.map(({ pluginRef, version }) => ({ name: pluginRef.name, version }));
  return plugins.flatMap(({ pluginRef: { name }, currentVersion, resolvedVersion, pendingDeletion }) => {
    // The status that was to say what the first start installs may have come too late; the list of that start knows.
    const started = updateProgress ? undefined : listed.find((one) => one.name === name)?.version;
    const version = currentVersion ?? started ?? (isFirst && !pendingDeletion ? resolvedVersion : "");
    return version === "" ? [] : [{ name, version }];
  });
}

/** What the set runs, as far as its image says. */
export const runningImage = (set: StatefulSet | undefined) => readImage(serverImage(set));

function portsOf({ metadata }: PaperMCServer, plugins: readonly Plugin[]): readonly number[] {
  const ports = plugins.flatMap(({ spec, metadata: { deletionTimestamp } }) => {
    const selector = labelSelectorRequirements(spec.instanceSelector);
    const matches = selector.ok && matchesLabels(selector.value, metadata.labels);
    return spec.port !== undefined && matches && deletionTimestamp === undefined ? [spec.port] : [];
  });
  return [...new Set(ports)].sort((a, b) => a - b);
}

/** All pods of the set are of its latest template and ready. A count that is absent is zero: the API leaves zeros out. */
export function isRolledOut({ metadata, spec, status }: StatefulSet): boolean {
  const replicas = spec.replicas ?? 1;
  const { observedGeneration = 0, updatedReplicas = 0, readyReplicas = 0 } = status ?? {};
  return observedGeneration >= (metadata.generation ?? 0) && updatedReplicas >= replicas && readyReplicas >= replicas;
}
