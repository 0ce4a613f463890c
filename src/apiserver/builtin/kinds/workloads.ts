import { deepEqual } from "../../../kube/equality.ts";
import type { Behaviour } from "../behaviour.ts";
import { ageColumn, column, nameColumn, wide } from "../columns.ts";
import { child, type Draft, descend, ensure, entries, fill, fillEmpty, items, numeral, text } from "../draft.ts";
import { labelName } from "../names.ts";
import { labelsOrNone, selectorText } from "../selector-text.ts";
import {
  validateDaemonSetStatus,
  validateDeploymentStatus,
  validateReplicaSetStatus,
  validateReplicationControllerStatus,
  validateStatefulSetStatus,
} from "../validation/status.ts";
import {
  selectorIsFixed,
  validateControllerRevision,
  validateControllerRevisionUpdate,
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateReplicationController,
  validateStatefulSet,
  validateStatefulSetUpdate,
} from "../validation/workloads.ts";
import { statefulSetWarnings, workloadWarnings } from "../warnings.ts";
import { containerColumns, selectorColumn } from "./template-columns.ts";

/** Deployment, ReplicaSet and what came before it, StatefulSet, DaemonSet and ControllerRevision. */

const scale = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
} as const;

const count =
  (holder: "spec" | "status", field: string) =>
  (object: Draft): number =>
    numeral(child(object, holder), field) ?? 0;

export const deployment: Behaviour = {
  validate: validateDeployment,
  validateStatus: validateDeploymentStatus,
  warnings: workloadWarnings("spec", "template"),
  validateUpdate: selectorIsFixed,
  scale,
  // Annotations are copied to replica sets, so that a change of them is news too.
  generationPaths: ["spec", "metadata.annotations"],
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    const strategy = child(spec, "strategy") ?? {};
    fill(spec, "replicas", 1);
    fillEmpty(strategy, "type", "RollingUpdate");
    if (text(strategy, "type") === "RollingUpdate") {
      fill(strategy, "rollingUpdate", {});
      const rolling = child(strategy, "rollingUpdate") ?? {};
      fill(rolling, "maxUnavailable", "25%");
      fill(rolling, "maxSurge", "25%");
    }
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
  },
  prepareStatus(draft, old) {
    keepLabels(draft, old);
  },
  columns: [
    nameColumn,
    column("Ready", (object) => `${count("status", "readyReplicas")(object)}/${count("spec", "replicas")(object)}`),
    column("Up-to-date", count("status", "updatedReplicas")),
    column("Available", count("status", "availableReplicas")),
    ageColumn,
    ...containerColumns(["spec"]),
    wide("Selector", (object) => selectorText(descend(object, "spec", "selector"))),
  ],
};

export const replicaSet: Behaviour = {
  validate: validateReplicaSet,
  validateStatus: validateReplicaSetStatus,
  warnings: workloadWarnings("spec", "template"),
  validateUpdate: selectorIsFixed,
  scale,
  generationPaths: ["spec"],
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    fill(spec, "replicas", 1);
  },
  columns: [
    nameColumn,
    column("Desired", count("spec", "replicas"), { type: "integer" }),
    column("Current", count("status", "replicas"), { type: "integer" }),
    column("Ready", count("status", "readyReplicas"), { type: "integer" }),
    ageColumn,
    ...containerColumns(["spec"]),
    selectorColumn(["spec"]),
  ],
};

export const replicationController: Behaviour = {
  validate: validateReplicationController,
  validateStatus: validateReplicationControllerStatus,
  warnings: workloadWarnings("spec", "template"),
  scale,
  generationPaths: ["spec"],
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    const labels = child(descend(spec, "template", "metadata"), "labels");
    if (labels && entries(spec, "selector").length === 0) spec["selector"] = labels;
    if (labels && entries(child(draft, "metadata"), "labels").length === 0)
      ensure(draft, "metadata")["labels"] = labels;
    fill(spec, "replicas", 1);
  },
  columns: [
    nameColumn,
    column("Desired", count("spec", "replicas"), { type: "integer" }),
    column("Current", count("status", "replicas"), { type: "integer" }),
    column("Ready", count("status", "readyReplicas"), { type: "integer" }),
    ageColumn,
    ...containerColumns(["spec"]),
    wide("Selector", (object) => labelsOrNone(child(object, "spec"), "selector")),
  ],
};

export const statefulSet: Behaviour = {
  name: labelName,
  validate: validateStatefulSet,
  validateStatus: validateStatefulSetStatus,
  warnings: statefulSetWarnings,
  updateSkipsValidate: true,
  validateUpdate: validateStatefulSetUpdate,
  scale,
  generationPaths: ["spec"],
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    const update = child(spec, "updateStrategy") ?? {};
    fillEmpty(spec, "podManagementPolicy", "OrderedReady");
    if (text(update, "type") === "") {
      update["type"] = "RollingUpdate";
      fill(update, "rollingUpdate", {});
    }
    const rolling = child(update, "rollingUpdate");
    if (text(update, "type") === "RollingUpdate" && rolling) {
      fill(rolling, "partition", 0);
    }
    for (const claim of items(spec, "volumeClaimTemplates")) {
      claim["apiVersion"] = "v1";
      claim["kind"] = "PersistentVolumeClaim";
    }
    fill(spec, "persistentVolumeClaimRetentionPolicy", {});
    const retention = child(spec, "persistentVolumeClaimRetentionPolicy") ?? {};
    fillEmpty(retention, "whenDeleted", "Retain");
    fillEmpty(retention, "whenScaled", "Retain");
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
  },
  columns: [
    nameColumn,
    column("Ready", (object) => `${count("status", "readyReplicas")(object)}/${count("spec", "replicas")(object)}`),
    ageColumn,
    ...containerColumns(["spec"]),
  ],
};

const templateGeneration = "deprecated.daemonset.template.generation";

const templateGenerationOf = (object: Draft): number =>
  Number.parseInt(text(descend(object, "metadata", "annotations"), templateGeneration), 10) || 0;

export const daemonSet: Behaviour = {
  validate: validateDaemonSet,
  validateStatus: validateDaemonSetStatus,
  warnings: workloadWarnings("spec", "template"),
  validateUpdate: selectorIsFixed,
  generationPaths: ["spec"],
  prepareCreate(draft) {
    setTemplateGeneration(draft, Math.max(templateGenerationOf(draft), 1));
  },
  prepareUpdate(draft, old) {
    const changed = !deepEqual(descend(draft, "spec", "template"), descend(old, "spec", "template"));
    setTemplateGeneration(draft, templateGenerationOf(old) + (changed ? 1 : 0));
  },
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    const update = child(spec, "updateStrategy") ?? {};
    fillEmpty(update, "type", "RollingUpdate");
    if (text(update, "type") === "RollingUpdate") {
      fill(update, "rollingUpdate", {});
      const rolling = child(update, "rollingUpdate") ?? {};
      fill(rolling, "maxUnavailable", 1);
      fill(rolling, "maxSurge", 0);
    }
    fill(spec, "revisionHistoryLimit", 10);
  },
  columns: [
    nameColumn,
    column("Desired", count("status", "desiredNumberScheduled"), { type: "integer" }),
    column("Current", count("status", "currentNumberScheduled"), { type: "integer" }),
    column("Ready", count("status", "numberReady"), { type: "integer" }),
    column("Up-to-date", count("status", "updatedNumberScheduled"), { type: "integer" }),
    column("Available", count("status", "numberAvailable"), { type: "integer" }),
    column("Node Selector", (object) => labelsOrNone(descend(object, "spec", "template", "spec"), "nodeSelector")),
    ageColumn,
    ...containerColumns(["spec"]),
    selectorColumn(["spec"]),
  ],
};

/** An annotation that old clients still read; it counts the changes of the template. */
function setTemplateGeneration(draft: Draft, value: number): void {
  ensure(ensure(draft, "metadata"), "annotations")[templateGeneration] = String(value);
}

export const controllerRevision: Behaviour = {
  validate: validateControllerRevision,
  validateUpdate: validateControllerRevisionUpdate,
  columns: [
    nameColumn,
    column("Controller", controllerName),
    column("Revision", (object) => numeral(object, "revision") ?? 0),
    ageColumn,
  ],
};

function controllerName(object: Draft): string {
  const owners = child(object, "metadata")?.["ownerReferences"];
  const list: readonly unknown[] = Array.isArray(owners) ? owners : [];
  const owner = list.find((candidate) => (candidate as Draft)["controller"] === true) as Draft | undefined;
  if (!owner) return "<none>";
  const group = text(owner, "apiVersion").includes("/") ? `.${text(owner, "apiVersion").split("/")[0]}` : "";
  return `${`${text(owner, "kind")}${group}`.toLowerCase()}/${text(owner, "name")}`;
}

function keepLabels(draft: Draft, old: Draft): void {
  const { labels: _, ...metadata } = child(draft, "metadata") ?? {};
  const labels = child(child(old, "metadata"), "labels");
  draft["metadata"] = { ...metadata, ...(labels && { labels }) };
}
