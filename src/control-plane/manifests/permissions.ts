import { Node } from "../../api/builtin/cluster.ts";
import { ConfigMap } from "../../api/builtin/configuration.ts";
import { Event } from "../../api/builtin/event.ts";
import { ClassRuntime } from "../../api/class-runtime.ts";
import { defaultInstallation } from "../../controllers/class-runtime/installation.ts";
import { systemEnv } from "../../env/system.ts";
import type { Controller } from "../../runtime/controller.ts";
import { MetricsRegistry } from "../../runtime/metrics.ts";
import { allow, mergePermissions, type Permission } from "../../runtime/permission.ts";
import { clusterWide } from "../action-objects.ts";
import { controllersOf } from "../controllers.ts";
import { registryPermissions } from "../registry.ts";
import type { Group, InstallOptions } from "./options.ts";

/** What a system uses besides what its controllers declare. */
const besides: Readonly<Record<string, readonly Permission[]>> = {
  // What its gRPC door writes and tells.
  "class-runtimes": [allow(ClassRuntime, ["get", "list", "create", "patch", "delete"]), allow(Node, ["list"])],
  registry: withoutReads(registryPermissions),
};

/** Exactly what the systems of a group say that they read and write in any namespace, and the events that they record. */
export function permissionsOf(
  { systems }: Pick<Group, "systems">,
  { registryNamespace, image }: Pick<InstallOptions, "registryNamespace" | "image">,
): readonly Permission[] {
  const ofSystem = (system: string): readonly Permission[] => {
    const controllers = controllersOf([system], {
      env: systemEnv,
      metrics: new MetricsRegistry(),
      registryNamespace,
      image,
      fetch: () => Promise.reject(new Error("nothing is fetched while manifests are rendered")),
      baseUrls: {},
      classRuntimes: defaultInstallation,
    });
    const declared = [...controllers.flatMap(neededBy), ...(besides[system] ?? [])];
    // The rest of them is granted in the namespaces that belong to actions, and nowhere else.
    return system === "actions" ? clusterWide(declared).filter(isNotOfSwitch) : declared;
  };
  // The registry tells by its feed what happened.
  const recordsEvents = systems.some((system) => system !== "registry");
  return mergePermissions([
    ...systems.flatMap(ofSystem),
    ...(recordsEvents ? [allow(Event, ["create", "patch"])] : []),
  ]);
}

/** What is watched is read from the cache: single objects are got only where a controller says so itself. */
const neededBy = ({ permissions, options }: Controller): readonly Permission[] =>
  permissions.map((permission) => {
    const { group, resource, verbs } = permission;
    const isOfOwn = (options.permissions ?? []).some(
      (own) => own.group === group && own.resource === resource && own.verbs.includes("get"),
    );
    return isOfOwn ? permission : { ...permission, verbs: verbs.filter((verb) => verb !== "get") };
  });

function withoutReads(permissions: readonly Permission[]): readonly Permission[] {
  return permissions.map((permission) => ({ ...permission, verbs: permission.verbs.filter((verb) => verb !== "get") }));
}

/** The freeze switch is looked at and never written. */
const isNotOfSwitch = ({ group, resource, verbs }: Permission): boolean =>
  !(group === "" && resource === ConfigMap.plural && verbs.includes("patch") && verbs.length === 1);
