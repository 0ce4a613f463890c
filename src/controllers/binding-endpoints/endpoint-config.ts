import { ConfigMap } from "../../api/builtin/configuration.ts";
import { CapabilityBinding } from "../../api/capability-binding.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { annotations, labels } from "../../api/well-known.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { deepEqual } from "../../kube/equality.ts";
import { nameHash, safeLabelValue, safeName, subdomainMaxLength } from "../../kube/names.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { controllerReference } from "../../kube/owner-reference.ts";
import { type Controller, defineController, index, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { annotationsChanged, deletionChanged, resourceVersionChanged } from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";

const controllerName = "endpoint-config";

/** Writes for each world and each consumer that asks for it (`capstan.dev/endpoints: configmap`) where the consumer's providers are, made for `envFrom`. */
export const endpointConfig: Controller = defineController({
  name: controllerName,
  reconciles: WorldInstance,
  predicates: [deletionChanged],
  owns: [ConfigMap],
  watches: [
    watch(CapabilityBinding, { map: worldOf, predicates: [resourceVersionChanged] }),
    watch(ModuleManifest, { map: worldsOf, predicates: [annotationsChanged] }),
  ],
  indexes: [
    index(CapabilityBinding, "world", ({ metadata, spec }) =>
      spec.worldRef ? [`${metadata.namespace}/${spec.worldRef.name}`] : [],
    ),
    index(CapabilityBinding, "consumer", ({ metadata, spec }) => [
      `${metadata.namespace}/${spec.consumer.moduleManifestName}`,
    ]),
  ],
  permissions: [allow(ConfigMap, ["create", "patch", "delete"])],
  observe: (world, { read }) => {
    const { namespace = "", name } = world.metadata;
    const bindings = read.byIndex(CapabilityBinding, "world", `${namespace}/${name}`);
    const asks = (consumer: string): boolean =>
      read.get(ModuleManifest, { namespace, name: consumer })?.metadata.annotations?.[annotations.endpoints] ===
      "configmap";
    const consumers = [...new Set(bindings.map(({ spec }) => spec.consumer.moduleManifestName))].filter(asks).sort();
    const existing = read.owned(ConfigMap, world);
    const isHeldElsewhere = (config: string): boolean =>
      read.get(ConfigMap, { namespace, name: config }) !== undefined &&
      !existing.some(({ metadata }) => metadata.name === config);
    return { world, bindings, consumers, existing, isHeldElsewhere };
  },
  evaluate: planConfigs,
  async act({ apply, remove }, { write, log }) {
    for (const config of apply) {
      const answer = await write.apply(ConfigMap, config, { force: true });
      if (!answer.ok)
        log.warn("the endpoints of a module could not be written", {
          configMap: config.metadata.name,
          why: answer.message,
        });
    }
    for (const config of remove) await write.delete(ConfigMap, config);
  },
  reduce: () => ({}),
});

interface Snapshot {
  readonly world: WorldInstance;
  readonly bindings: readonly CapabilityBinding[];
  readonly consumers: readonly string[];
  readonly existing: readonly ConfigMap[];
  /** Names that a ConfigMap of another world, or of a person, has. */
  readonly isHeldElsewhere: (name: string) => boolean;
}

interface ConfigPlan {
  readonly apply: readonly (Pick<ConfigMap, "data"> & { readonly metadata: ReturnType<typeof metadataOf> })[];
  readonly remove: readonly ConfigMap[];
}

export function planConfigs({ world, bindings, consumers, existing, isHeldElsewhere }: Snapshot): ConfigPlan {
  const wanted = consumers.map((consumer) => ({
    metadata: metadataOf(world, consumer, isHeldElsewhere),
    data: variablesOf(bindings.filter(({ spec }) => spec.consumer.moduleManifestName === consumer)),
  }));
  const byName = new Map(existing.map((config) => [config.metadata.name, config]));
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const isOurs = ({ metadata }: ConfigMap): boolean => metadata.labels?.[labels.controller] === controllerName;
  return {
    apply: wanted.filter((config) => !isAsWanted(byName.get(config.metadata.name), config)),
    remove: existing.filter((config) => isOurs(config) && !names.has(config.metadata.name)),
  };
}

function isAsWanted(existing: ConfigMap | undefined, { metadata, data }: ConfigPlan["apply"][number]): boolean {
  const present = existing?.metadata.labels;
  return (
    deepEqual(existing?.data ?? {}, data ?? {}) &&
    Object.entries(metadata.labels).every(([key, value]) => present?.[key] === value)
  );
}

/**
 * `ANVIL_CAPABILITY_<CAPABILITY>_<SCOPE>_ENDPOINT`, `_HOST` and `_PORT`, and the same without the scope where the consumer
 * has the capability in one scope only. Several providers are joined by commas.
 */
export function variablesOf(bindings: readonly CapabilityBinding[]): Readonly<Record<string, string>> {
  const data: Record<string, string> = {};
  for (const ofCapability of Map.groupBy(bindings, ({ spec }) => spec.capabilityId).values()) {
    const scopes = Map.groupBy(ofCapability, ({ spec }) => spec.scope);
    for (const [scope, ofScope] of scopes) {
      const endpoints = ofScope.flatMap(({ status }) => status?.resolvedEndpoint ?? []).sort();
      if (endpoints.length === 0) continue;
      const capability = `ANVIL_CAPABILITY_${variable(ofScope[0]?.spec.capabilityId ?? "")}`;
      for (const prefix of [`${capability}_${variable(scope)}`, ...(scopes.size === 1 ? [capability] : [])]) {
        data[`${prefix}_ENDPOINT`] = endpoints.join(",");
        if (endpoints.length > 1) continue;
        const colon = endpoints[0]?.lastIndexOf(":") ?? -1;
        data[`${prefix}_HOST`] = endpoints[0]?.slice(0, colon) ?? "";
        data[`${prefix}_PORT`] = endpoints[0]?.slice(colon + 1) ?? "";
      }
    }
  }
  return Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const variable = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, "_");

/** Worlds and consumers whose names run together (`a` `b-c`, `a-b` `c`) are told apart by a hash. */
function nameOf(world: string, consumer: string, isHeldElsewhere: (name: string) => boolean): string {
  const plain = safeName(`${world}-${consumer}-endpoints`);
  if (!isHeldElsewhere(plain)) return plain;
  const hash = nameHash(`${world} ${consumer}`);
  return safeName(`${plain.slice(0, subdomainMaxLength - hash.length - 1)}-${hash}`);
}

const metadataOf = (world: WorldInstance, consumer: string, isHeldElsewhere: (name: string) => boolean) => ({
  name: nameOf(world.metadata.name, consumer, isHeldElsewhere),
  namespace: world.metadata.namespace ?? "",
  labels: {
    [labels.world]: safeLabelValue(world.metadata.name),
    [labels.module]: safeLabelValue(consumer),
    [labels.controller]: controllerName,
    [labels.managedBy]: "capstan",
  },
  ownerReferences: [controllerReference(WorldInstance, world)],
});

function worldOf({ metadata, spec }: CapabilityBinding): readonly ObjectKey[] {
  return spec.worldRef ? [{ namespace: metadata.namespace ?? "", name: spec.worldRef.name }] : [];
}

function worldsOf({ metadata }: ModuleManifest, read: Read): readonly ObjectKey[] {
  return read.byIndex(CapabilityBinding, "consumer", `${metadata.namespace}/${metadata.name}`).flatMap(worldOf);
}
