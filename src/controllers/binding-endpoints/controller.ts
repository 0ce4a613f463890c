import { Service } from "../../api/builtin/service.ts";
import { CapabilityBinding } from "../../api/capability-binding.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { ServiceTarget } from "../../api/service-target.ts";
import { annotations, labels } from "../../api/well-known.ts";
import { setCondition } from "../../kube/condition.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import { type Controller, defineController, index, watch } from "../../runtime/controller.ts";
import { annotationsChanged, generationChanged, or, resourceVersionChanged } from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { type Decision, evaluate, type Observation } from "./evaluate.ts";

export interface BindingEndpointsOptions {
  /** Where services live that registered without a namespace of their own. */
  readonly registryNamespace: string;
}

/** Writes on each binding where its provider is, and follows it when it moves or dies. */
export function bindingEndpoints({ registryNamespace }: BindingEndpointsOptions): Controller {
  return defineController({
    name: "binding-endpoints",
    reconciles: CapabilityBinding,
    predicates: [generationChanged],
    watches: [
      watch(ModuleManifest, { map: bindingsOfManifest, predicates: [or(generationChanged, annotationsChanged)] }),
      watch(ServiceTarget, {
        map: (target, read) => bindingsOfTarget(target, read, registryNamespace),
        predicates: [resourceVersionChanged],
      }),
      watch(Service, { map: bindingsOfService, predicates: [resourceVersionChanged] }),
    ],
    indexes: [
      index(CapabilityBinding, "provider", ({ metadata, spec }) => [
        `${metadata.namespace}/${spec.provider.moduleManifestName}`,
      ]),
      index(CapabilityBinding, "declared-service", (binding) => declaredServiceKeys(binding)),
      index(ModuleManifest, "service", ({ metadata }) => annotated(metadata.annotations)),
      index(ServiceTarget, "service", ({ metadata, spec }) => [`${metadata.namespace}/${spec.serviceName}`]),
      index(Service, "module", ({ metadata }) => moduleOf(metadata)),
    ],
    observe: (binding, { read }) => observe(binding, read, registryNamespace),
    evaluate,
    reduce: ({ object, decision, now }) => ({ status: reduce(object, decision, now) }),
  });
}

function observe(binding: CapabilityBinding, read: Read, registryNamespace: string): Observation {
  const namespace = binding.metadata.namespace ?? "";
  const name = binding.spec.provider.moduleManifestName;
  const provider = read.get(ModuleManifest, { namespace, name });
  const [declaredKey] = declaredServiceKeys(binding);
  const declaredService = declaredKey ? read.get(Service, keyFrom(declaredKey)) : undefined;
  const named = read.get(Service, { namespace, name });
  const labelled = read.byIndex(Service, "module", `${namespace}/${name}`).filter((service) => service !== named);
  return {
    binding,
    ...(provider && { provider }),
    ...(declaredService && { declaredService }),
    targets: targetsOf(name, provider, namespace, read, registryNamespace),
    services: [...(named ? [named] : []), ...labelled.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))],
  };
}

/** The registry's own namespace counts only for manifests that name their service: an open registry must not capture bindings. */
function targetsOf(
  name: string,
  provider: ModuleManifest | undefined,
  namespace: string,
  read: Read,
  registryNamespace: string,
): readonly ServiceTarget[] {
  const alias = provider?.metadata.annotations?.[annotations.service];
  const keys = new Set([
    `${namespace}/${name}`,
    ...(alias ? [`${namespace}/${alias}`, `${registryNamespace}/${alias}`] : []),
  ]);
  return [...keys].flatMap((key) => read.byIndex(ServiceTarget, "service", key));
}

function reduce(binding: CapabilityBinding, decision: Decision, now: Date): NonNullable<CapabilityBinding["status"]> {
  const { phase, reason, message, endpoint } = decision;
  const { resolvedEndpoint: oldEndpoint, lastResolvedTime, ...old } = binding.status ?? {};
  const generation = binding.metadata.generation;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const status = phase === "Bound" ? "True" : "False";
  const time = endpoint === oldEndpoint ? lastResolvedTime : endpoint === undefined ? undefined : formatTime(now);
  return {
    ...old,
    ...observed,
    phase,
    message,
    ...(endpoint !== undefined && { resolvedEndpoint: endpoint }),
    ...(time !== undefined && { lastResolvedTime: time }),
    conditions: setCondition(old.conditions, { type: "Bound", status, reason, message, ...observed }, now),
  };
}

const bindingsOfManifest = ({ metadata }: ModuleManifest, read: Read): readonly ObjectKey[] =>
  bindingsOfProvider(`${metadata.namespace}/${metadata.name}`, read);

function bindingsOfTarget(
  { metadata, spec }: ServiceTarget,
  read: Read,
  registryNamespace: string,
): readonly ObjectKey[] {
  const isRegistrys = metadata.namespace === registryNamespace;
  const aliased = read
    .byIndex(ModuleManifest, "service", spec.serviceName)
    .filter((manifest) => isRegistrys || manifest.metadata.namespace === metadata.namespace);
  return [
    ...bindingsOfProvider(`${metadata.namespace}/${spec.serviceName}`, read),
    ...aliased.flatMap((manifest) => bindingsOfManifest(manifest, read)),
  ];
}

function bindingsOfService({ metadata }: Service, read: Read): readonly ObjectKey[] {
  const own = `${metadata.namespace}/${metadata.name}`;
  return [
    ...[own, ...moduleOf(metadata)].flatMap((key) => bindingsOfProvider(key, read)),
    ...read.byIndex(CapabilityBinding, "declared-service", own).map(({ metadata: found }) => keyOf(found)),
  ];
}

const bindingsOfProvider = (key: string, read: Read): readonly ObjectKey[] =>
  read.byIndex(CapabilityBinding, "provider", key).map(({ metadata }) => keyOf(metadata));

const annotated = (present: KubeObject["metadata"]["annotations"]): readonly string[] => {
  const alias = present?.[annotations.service];
  return alias ? [alias] : [];
};

function moduleOf({ namespace, labels: present }: KubeObject["metadata"]): readonly string[] {
  const module = present?.[labels.module];
  return module ? [`${namespace}/${module}`] : [];
}

function declaredServiceKeys({ metadata, spec }: CapabilityBinding): readonly string[] {
  const { endpoint } = spec.provider;
  if (!endpoint?.value || endpoint.type === "url") return [];
  const [name, namespace = metadata.namespace] = endpoint.value.split(".");
  return [`${namespace}/${name}`];
}

const keyFrom = (key: string): ObjectKey => {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
};
const keyOf = ({ namespace = "", name }: KubeObject["metadata"]): ObjectKey => ({ namespace, name });
