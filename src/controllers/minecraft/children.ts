import { PaperMCServer } from "../../api/papermc-server.ts";
import { labels } from "../../api/well-known.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { controllerReference } from "../../kube/owner-reference.ts";

export const fieldManager = "minecraft-operator";
export const controllerName = "papermcserver";

export const gamePort = 25565;

/** Upstream's labels, on everything that belongs to a server. */
export type Component = "server" | "service" | "networking" | "network-policy";

export const childLabels = (server: string, component: Component): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": "papermc",
  "app.kubernetes.io/instance": server,
  "app.kubernetes.io/managed-by": "minecraft-operator",
  "app.kubernetes.io/component": component,
  "app.kubernetes.io/part-of": "minecraft-operator",
  [labels.controller]: controllerName,
});

export const selectorLabels = (server: string): Readonly<Record<string, string>> => ({
  app: "papermc",
  [labels.minecraftServer]: server,
});

export function childMetadata(
  server: PaperMCServer,
  name: string,
  component: Component,
): Partial<ObjectMeta> & { readonly name: string } {
  return {
    name,
    namespace: server.metadata.namespace ?? "",
    labels: childLabels(server.metadata.name, component),
    ownerReferences: [controllerReference(PaperMCServer, server)],
  };
}
