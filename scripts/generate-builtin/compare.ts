// For tests: runs an object through our strategies and brings it and the real server's answer into one comparable form.

import { admitNew } from "../../src/apiserver/builtin/admission.ts";
import { decodeBuiltin } from "../../src/apiserver/builtin/decode-builtin.ts";
import { type BuiltinResource, builtinResources } from "../../src/apiserver/builtin/resources.ts";
import { allocateService } from "../../src/apiserver/builtin/service-allocation.ts";
import { formatFieldErrors } from "../../src/kube/field-error.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { merge, type RecordedCreate, type RecordedTable, type RecordedUpdate } from "./record.ts";

type Json = { readonly [field: string]: unknown };

export interface Compared {
  readonly ours: unknown;
  readonly theirs: unknown;
}

const uid = "00000000-0000-4000-8000-000000000000";
const creationTimestamp = "2026-01-01T00:00:00Z";

export function compareCreate({ given, status, answer, warnings }: RecordedCreate): Compared {
  const resource = resourceOf(given);
  const shaped = decodeBuiltin(String(given["apiVersion"]), String(given["kind"]), given);
  if (shaped?.kind !== "Shaped") return { ours: shaped?.message, theirs: answer["message"] };
  const defaulted = resource.strategy.default(shaped.object);
  const stamped = { ...defaulted, metadata: stamp(defaulted, resource) };
  const prepared = resource.strategy.prepareForCreate(stamped);
  const admitted = admitNew(prepared, lookups);
  if (admitted.kind === "Forbidden") {
    return {
      ours: `${resource.plural} "${stamped.metadata.name}" is forbidden: ${admitted.message}`,
      theirs: answer["message"],
    };
  }
  const object = resource.kind === "Service" ? allocateLike(admitted.object, answer) : admitted.object;
  const errors = resource.strategy.validate(object);
  if (status >= 300 || errors.length > 0) {
    const theirs = String(answer["message"] ?? "accepted").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, uid);
    return { ours: refusal(resource, object, errors), theirs };
  }
  const seen = throughStorage(resource, object);
  // The real server warns of labels in the order of a Go map, which is another one every time.
  return {
    ours: { object: comparable(seen), warnings: warningsOf(resource, object).toSorted() },
    theirs: { object: comparable(answer), warnings: warnings.toSorted() },
  };
}

export function compareUpdate({ created, change, status, answer, subresource }: RecordedUpdate): Compared {
  const given = merge(created, change) as Json;
  const resource = resourceOf(created);
  const old = created as unknown as KubeObject;
  const shaped = decodeBuiltin(String(given["apiVersion"]), String(given["kind"]), given);
  if (shaped?.kind !== "Shaped") return { ours: shaped?.message, theirs: answer["message"] };
  const strategy = subresource === "status" ? resource.statusStrategy : resource.strategy;
  if (!strategy) throw new Error(`${resource.kind} has no ${subresource}`);
  const prepared = strategy.prepareForUpdate(resource.strategy.default(shaped.object), old);
  const object = resource.kind === "Service" ? allocateLike(prepared, answer, old) : prepared;
  const errors = strategy.validateUpdate(object, old);
  if (status >= 300 || errors.length > 0) {
    // Which lines of a pod's spec differ is told by the real server in its inner form, by ours in the form people write.
    const shown = (message: unknown): string => String(message).split(resource.kind === "Pod" ? "\n" : "\0")[0] ?? "";
    return { ours: shown(refusal(resource, object, errors)), theirs: shown(answer["message"]) };
  }
  return { ours: withoutVersion(object), theirs: withoutVersion(answer) };
}

/** A write that is kept gets a new version from the store. */
function withoutVersion(object: unknown): unknown {
  const { resourceVersion: _, ...metadata } = (object as { metadata: Record<string, unknown> }).metadata;
  return sorted({ ...(object as object), metadata });
}

export function compareTable({ object, now, columns, cells }: RecordedTable): Compared {
  const resource = resourceOf(object);
  const time = new Date(now);
  return {
    ours: {
      columns: resource.columns.map(({ name, type, format = "", priority }) => ({ name, type, format, priority })),
      cells: resource.columns.map((column) => column.cell(object as unknown as KubeObject, time)).map(withoutSeconds),
    },
    theirs: { columns, cells: cells.map(withoutSeconds) },
  };
}

/** The clocks of two machines may be a second apart; what is older is compared to the letter. */
const withoutSeconds = (cell: unknown): unknown =>
  typeof cell === "string" ? cell.replace(/^[0-9]s$/, "just now") : cell;

function resourceOf(object: Json): BuiltinResource {
  const found = builtinResources().find(
    ({ group, version, kind }) =>
      kind === object["kind"] && (group === "" ? version : `${group}/${version}`) === object["apiVersion"],
  );
  if (!found) throw new Error(`${object["apiVersion"]} ${object["kind"]} is not built in`);
  return found;
}

function stamp({ metadata }: KubeObject, { namespaced }: BuiltinResource): KubeObject["metadata"] {
  return {
    ...metadata,
    name: metadata.name ?? "",
    ...(namespaced && { namespace: metadata.namespace ?? "default" }),
    uid,
    creationTimestamp,
  };
}

const lookups = {
  priorityClasses: () => [],
  storageClasses: () => [],
  ingressClasses: () => [],
  serviceAccount: (namespace: string, name: string) =>
    name.startsWith("no-such")
      ? undefined
      : { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name } },
  suffix: () => "xxxxx",
};

function allocateLike(service: KubeObject, answer: Json, old?: KubeObject): KubeObject {
  const spec = answer["spec"] as
    | { clusterIP?: string; healthCheckNodePort?: number; ports?: readonly { nodePort?: number }[] }
    | undefined;
  const ports = [...(spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0), spec?.healthCheckNodePort ?? 0];
  return allocateService(service, old, {
    clusterIp: () => spec?.clusterIP ?? "10.0.0.99",
    nodePort: () => ports.shift() ?? 0,
  });
}

function throughStorage({ storedAs }: BuiltinResource, object: KubeObject): KubeObject {
  return storedAs ? storedAs.fromStored(storedAs.toStored(object)) : object;
}

function refusal(
  { group: served, kind, storedAs }: BuiltinResource,
  object: KubeObject,
  errors: Parameters<typeof formatFieldErrors>[0],
): string {
  if (errors.length === 0) return "accepted";
  // A message names the kind as it is stored.
  const group = storedAs?.group ?? served;
  const qualified = group === "" ? kind : `${kind}.${group}`;
  return `${qualified} "${object.metadata?.name ?? ""}" is invalid: ${formatFieldErrors(errors).message}`;
}

/** What differs between any two runs is made the same. */
function comparable(object: unknown): unknown {
  const text = JSON.stringify(sorted(object));
  const metadata = (object as KubeObject).metadata;
  const own = metadata.uid ?? uid;
  const parsed = JSON.parse(
    text
      .replaceAll(own, uid)
      .replaceAll(String(metadata.creationTimestamp), creationTimestamp)
      .replace(/kube-api-access-\w{5}/g, "kube-api-access-xxxxx"),
  ) as {
    metadata: Record<string, unknown>;
  };
  return { ...parsed, metadata: { ...parsed.metadata, uid, creationTimestamp } };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

/** As a request hears them: what is said of the kind, then what is said of the object. */
const warningsOf = ({ deprecation, strategy }: BuiltinResource, object: KubeObject): readonly string[] => [
  ...(deprecation === undefined ? [] : [deprecation]),
  ...(strategy.warnings?.(object) ?? []),
];
