import type { ClassRuntime } from "../../../api/class-runtime.ts";
import type { Value } from "./protobuf.ts";

/** What runs where, from what we know ourselves: the environment, its classes, their functions, data stores and routers. */
export function topologyOf(
  classes: readonly ClassRuntime[],
  environment: string,
  place: Readonly<Record<string, string>>,
): Value {
  const root = `environment/${environment}`;
  const nodes: Value[] = [
    {
      id: root,
      node_type: "environment",
      status: "healthy",
      metadata: place,
      deployed_classes: classes.map(({ metadata }) => metadata.name),
    },
  ];
  const edges: Value[] = [];
  const routers = new Set<string>();
  for (const { metadata, status } of classes) {
    const id = `class/${metadata.name}`;
    const health = status?.phase === "available" ? "healthy" : status?.phase === "degraded" ? "down" : "degraded";
    nodes.push({ id, node_type: "class", status: health, metadata: { namespace: metadata.namespace ?? "" } });
    edges.push({ from_id: root, to_id: id });
    for (const { function_key: key, ready, service } of status?.functions ?? []) {
      const own = `function/${metadata.name}/${key}`;
      nodes.push({ id: own, node_type: "function", status: ready ? "healthy" : "down", metadata: { service } });
      edges.push({ from_id: id, to_id: own });
    }
    for (const { kind, name } of status?.resource_refs ?? []) {
      if (kind !== "Deployment" || !name.endsWith("-odgm")) continue;
      nodes.push({ id: `odgm/${name}`, node_type: "odgm", status: health, deployed_classes: [metadata.name] });
      edges.push({ from_id: id, to_id: `odgm/${name}` });
    }
    for (const { service } of status?.routers ?? []) {
      if (!routers.has(service)) nodes.push({ id: `router/${service}`, node_type: "router", status: "healthy" });
      routers.add(service);
      edges.push({ from_id: id, to_id: `router/${service}` });
    }
  }
  return { nodes, edges };
}
