import { CustomResourceDefinition } from "../../api/builtin/custom-resource-definition.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { HorizontalPodAutoscaler } from "../../api/builtin/scaling.ts";
import { Service } from "../../api/builtin/service.ts";
import { Deployment } from "../../api/builtin/workloads.ts";
import { ClassRuntime } from "../../api/class-runtime.ts";
import { labels } from "../../api/well-known.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { type IndexDeclaration, index } from "../../runtime/controller.ts";
import type { Read } from "../../runtime/read.ts";
import { type ChildKind, childId, isOptional, type ObservedChild } from "./child-kinds.ts";
import type { Observation } from "./evaluate.ts";
import type { FollowedKinds } from "./followed-kinds.ts";
import { ownerLabel } from "./labels.ts";
import type { ClassRuntimeSettings } from "./settings.ts";
import { zenohPort } from "./templates/environment.ts";
import type { Platform, Router, Template } from "./templates/template.ts";

/** Kinds that every cluster serves; the others are followed apart. */
const cachedKinds = { Deployment, Service, HorizontalPodAutoscaler } as const;

/** Children and pods are found by the label that names their class. */
export const indexes: readonly IndexDeclaration[] = [
  ...[Deployment, Service, HorizontalPodAutoscaler, Pod].map((kind) => index<KubeObject>(kind, "class", classKeys)),
  index(ClassRuntime, "label", ({ metadata }) => [`${metadata.namespace}/${ownerLabel(metadata.name)}`]),
  index(Service, "router", ({ metadata }) => (isRouter(metadata.labels) ? [metadata.namespace ?? ""] : [])),
];

function classKeys({ metadata }: KubeObject): readonly string[] {
  const owner = metadata.labels?.[labels.classOwner];
  return owner === undefined ? [] : [`${metadata.namespace}/${owner}`];
}

export interface ObserveOptions {
  readonly settings: ClassRuntimeSettings;
  readonly templates: readonly Template[];
  readonly followed: FollowedKinds;
}

export function observe(classRuntime: ClassRuntime, read: Read, now: Date, options: ObserveOptions): Observation {
  const { settings, templates, followed } = options;
  const { namespace = "", name } = classRuntime.metadata;
  return {
    classRuntime,
    now,
    settings,
    templates,
    platform: platformOf(read, settings),
    routers: routersOf(namespace, read),
    children: childrenOf(classRuntime, read, followed),
    pods: read.byIndex(Pod, "class", `${namespace}/${ownerLabel(name)}`),
  };
}

/** Every object of a managed kind with our label. One that only has a name of ours is met when that is applied. */
export function childrenOf({ metadata }: ClassRuntime, read: Read, followed: FollowedKinds): readonly ObservedChild[] {
  const { namespace = "", name } = metadata;
  const label = ownerLabel(name);
  const found = new Map<string, ObservedChild>();
  const add = (kind: ChildKind, object: KubeObject | undefined): void => {
    if (object) found.set(childId(kind, object.metadata.name), { kind, object });
  };
  for (const kind of Object.keys(cachedKinds) as (keyof typeof cachedKinds)[]) {
    for (const object of read.byIndex<KubeObject>(cachedKinds[kind], "class", `${namespace}/${label}`))
      add(kind, object);
  }
  for (const kind of ["KnativeService", "ServiceMonitor"] as const) {
    for (const object of followed.labelled(kind, namespace, label)) add(kind, object);
  }
  return [...found.values()];
}

/** What has a name, whoever it belongs to; of kinds that are followed apart only what has the label of a class is known. */
export function namesakeIn(read: Read, followed: FollowedKinds, namespace: string) {
  return (kind: ChildKind, name: string): KubeObject | undefined =>
    isOptional(kind)
      ? followed.named(kind, namespace, name)
      : read.get<KubeObject>(cachedKinds[kind], { namespace, name });
}

export const optionalDefinitions = {
  knative: "services.serving.knative.dev",
  serviceMonitors: "servicemonitors.monitoring.coreos.com",
} as const;

function platformOf(read: Read, { features }: ClassRuntimeSettings): Platform {
  const isServed = (name: string): boolean => read.get(CustomResourceDefinition as KindRef, { name }) !== undefined;
  return {
    knative: features.knative && isServed(optionalDefinitions.knative),
    serviceMonitors: isServed(optionalDefinitions.serviceMonitors),
  };
}

const isRouter = (present: Readonly<Record<string, string>> | undefined): boolean =>
  present?.["app"] === "router" && present["platform"] === "oaas";

function routersOf(namespace: string, read: Read): readonly Router[] {
  return read
    .byIndex(Service, "router", namespace)
    .map(({ metadata, spec }) => {
      const ports = spec.ports ?? [];
      const port = ports.find(({ name }) => name === "zenoh") ?? ports[0];
      return { service: metadata.name, port: port?.port ?? zenohPort };
    })
    .sort((a, b) => (a.service < b.service ? -1 : 1));
}

/** The class runtimes that a child, a pod or a router concerns. */
export function classesOf({ metadata }: KubeObject, read: Read): readonly ObjectKey[] {
  const keys = classKeys({ apiVersion: "", kind: "", metadata });
  const own = keys.flatMap((key) => read.byIndex(ClassRuntime, "label", key));
  const all = isRouter(metadata.labels) ? read.list(ClassRuntime, { namespace: metadata.namespace ?? "" }) : own;
  return all.map(keyOf);
}

export const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): ObjectKey => ({ namespace, name });
