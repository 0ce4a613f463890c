import { Event } from "../../api/builtin/event.ts";
import { defaultInstallation } from "../../controllers/class-runtime/installation.ts";
import { systemEnv } from "../../env/system.ts";
import { MetricsRegistry } from "../../runtime/metrics.ts";
import { allow, mergePermissions, type Permission } from "../../runtime/permission.ts";
import { controllersOf } from "../controllers.ts";
import type { Group, InstallOptions } from "./options.ts";

/** Rights in one namespace, or in all of them. */
export type Granted =
  | { readonly kind: "Cluster"; readonly permissions: readonly Permission[] }
  | { readonly kind: "Namespace"; readonly namespace: string; readonly permissions: readonly Permission[] };

/** Exactly what the controllers of a group say that they read and write, and the events that they record. */
export function permissionsOf(
  { systems }: Pick<Group, "systems">,
  { registryNamespace, image }: Pick<InstallOptions, "registryNamespace" | "image">,
): readonly Permission[] {
  const controllers = controllersOf(systems, {
    env: systemEnv,
    metrics: new MetricsRegistry(),
    registryNamespace,
    image,
    fetch: () => Promise.reject(new Error("nothing is fetched while manifests are rendered")),
    baseUrls: {},
    classRuntimes: defaultInstallation,
  });
  return mergePermissions([
    ...controllers.flatMap(({ permissions }) => permissions),
    allow(Event, ["create", "patch"]),
  ]);
}

export const grantedTo = (group: Group, options: InstallOptions): readonly Granted[] => [
  { kind: "Cluster", permissions: permissionsOf(group, options) },
];
