import type { Behaviour } from "../behaviour.ts";
import { ageColumn, column, nameColumn, wide } from "../columns.ts";
import { child, type Draft, descend, ensure, entries, fill, fillEmpty, items, strings, text } from "../draft.ts";
import { labelName } from "../names.ts";
import {
  validateConfigMap,
  validateImmutableData,
  validateNamespace,
  validateNode,
  validateSecret,
  validateSecretUpdate,
} from "../validation/core.ts";
import { validateNamespaceStatus } from "../validation/status.ts";
import { nodeWarnings, secretWarnings, serviceAccountWarnings } from "../warnings.ts";

/** Namespace, ConfigMap, Secret, ServiceAccount and Node. */

export const namespace: Behaviour = {
  name: labelName,
  selectableFields: ["status.phase"],
  fill(draft) {
    const metadata = ensure(draft, "metadata");
    const name = text(metadata, "name");
    if (name !== "") ensure(metadata, "labels")["kubernetes.io/metadata.name"] = name;
  },
  prepareCreate(draft) {
    draft["status"] = { phase: "Active" };
    const spec = ensure(draft, "spec");
    const finalizers = strings(spec, "finalizers");
    if (!finalizers.includes("kubernetes")) spec["finalizers"] = [...finalizers, "kubernetes"];
    // A generated name is known only now.
    const metadata = ensure(draft, "metadata");
    ensure(metadata, "labels")["kubernetes.io/metadata.name"] = text(metadata, "name");
  },
  prepareUpdate(draft, old) {
    const finalizers = child(old, "spec")?.["finalizers"];
    const { finalizers: _, ...spec } = child(draft, "spec") ?? {};
    draft["spec"] = { ...spec, ...(finalizers !== undefined && { finalizers }) };
    ensure(ensure(draft, "metadata"), "labels")["kubernetes.io/metadata.name"] = text(child(old, "metadata"), "name");
  },
  validate: validateNamespace,
  validateStatus: validateNamespaceStatus,
  columns: [nameColumn, column("Status", (object) => text(child(object, "status"), "phase")), ageColumn],
};

export const configMap: Behaviour = {
  validate: validateConfigMap,
  validateUpdate: validateImmutableData,
  columns: [
    nameColumn,
    column("Data", (object) => entries(object, "data").length + entries(object, "binaryData").length),
    ageColumn,
  ],
};

export const secret: Behaviour = {
  validate: validateSecret,
  warnings: secretWarnings,
  updateSkipsValidate: true,
  validateUpdate: validateSecretUpdate,
  selectableFields: ["type"],
  fill(draft) {
    fillEmpty(draft, "type", "Opaque");
    const plain = entries(draft, "stringData");
    delete draft["stringData"];
    if (plain.length === 0) return;
    const data = ensure(draft, "data");
    for (const [key, value] of plain) data[key] = Buffer.from(String(value), "utf8").toString("base64");
    draft["data"] = Object.fromEntries(Object.entries(data).sort(([left], [right]) => (left < right ? -1 : 1)));
  },
  prepareUpdate(draft, old) {
    fillEmpty(draft, "type", old["type"]);
  },
  columns: [
    nameColumn,
    column("Type", (object) => text(object, "type")),
    column("Data", (object) => entries(object, "data").length),
    ageColumn,
  ],
};

export const serviceAccount: Behaviour = {
  warnings: serviceAccountWarnings,
  prepareCreate: keepSecretNames,
  prepareUpdate: keepSecretNames,
  columns: [nameColumn, ageColumn],
};

function keepSecretNames(draft: Draft): void {
  const secrets = items(draft, "secrets");
  if (secrets.length > 0) draft["secrets"] = secrets.map((reference) => ({ name: text(reference, "name") }));
}

export const node: Behaviour = {
  validate: validateNode,
  warnings: nodeWarnings,
  selectableFields: ["spec.unschedulable"],
  fieldValues: { "spec.unschedulable": (object) => String(child(object, "spec")?.["unschedulable"] === true) },
  keepsStatusOnCreate: true,
  fill(draft) {
    const status = child(draft, "status");
    const capacity = child(status, "capacity");
    if (status && capacity) fill(status, "allocatable", { ...capacity });
  },
  columns: [
    nameColumn,
    column("Status", nodeStatus),
    column("Roles", nodeRoles),
    ageColumn,
    column("Version", (object) => text(nodeInfo(object), "kubeletVersion")),
    wide("Internal-IP", (object) => nodeAddress(object, "InternalIP")),
    wide("External-IP", (object) => nodeAddress(object, "ExternalIP")),
    wide("OS-Image", (object) => text(nodeInfo(object), "osImage") || "<unknown>"),
    wide("Kernel-Version", (object) => {
      const architecture = text(nodeInfo(object), "architecture");
      return `${text(nodeInfo(object), "kernelVersion") || "<unknown>"}${architecture && ` (${architecture})`}`;
    }),
    wide("Container-Runtime", (object) => text(nodeInfo(object), "containerRuntimeVersion") || "<unknown>"),
  ],
};

const nodeInfo = (object: Draft): Draft | undefined => descend(object, "status", "nodeInfo");

function nodeStatus(object: Draft): string {
  const ready = items(child(object, "status"), "conditions").find((condition) => text(condition, "type") === "Ready");
  const words = [ready ? (text(ready, "status") === "True" ? "Ready" : "NotReady") : "Unknown"];
  if (child(object, "spec")?.["unschedulable"] === true) words.push("SchedulingDisabled");
  return words.join(",");
}

const rolePrefix = "node-role.kubernetes.io/";

function nodeRoles(object: Draft): string {
  const roles = entries(child(object, "metadata"), "labels").flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === "kubernetes.io/role" ? [String(value)] : [];
  });
  return [...new Set(roles.filter((role) => role !== ""))].sort().join(",") || "<none>";
}

const nodeAddress = (object: Draft, type: string): string =>
  text(
    items(child(object, "status"), "addresses").find((address) => text(address, "type") === type),
    "address",
  ) || "<none>";
