import { Node } from "../../api/builtin/cluster.ts";
import { Event } from "../../api/builtin/event.ts";
import { ClassRuntime } from "../../api/class-runtime.ts";
import { defaultInstallation } from "../../controllers/class-runtime/installation.ts";
import { systemEnv } from "../../env/system.ts";
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
  registry: registryPermissions,
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
    const declared = [...controllers.flatMap(({ permissions }) => permissions), ...(besides[system] ?? [])];
    // The rest of them is granted in the namespaces that belong to actions, and nowhere else.
    return system === "actions" ? clusterWide(declared) : declared;
  };
  return mergePermissions([...systems.flatMap(ofSystem), allow(Event, ["create", "patch"])]);
}
