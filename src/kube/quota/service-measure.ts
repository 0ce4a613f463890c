import type { KubeObject } from "../object.ts";
import type { Quantity } from "../quantity.ts";
import type { Measure } from "./measure.ts";

type Service = KubeObject & {
  readonly spec?: {
    readonly type?: string;
    readonly ports?: readonly { readonly nodePort?: number }[];
    readonly allocateLoadBalancerNodePorts?: boolean;
  };
};

/** Services: how many, and how many node ports and load balancers they take. */
export const serviceMeasure: Measure = {
  matching: (names) => [...names].filter((name) => ownNames.has(name)),
  usage(object) {
    const { spec } = object as Service;
    return new Map([
      ["count/services", units(1)],
      ["services", units(1)],
      ["services.loadbalancers", units(spec?.type === "LoadBalancer" ? 1 : 0)],
      ["services.nodeports", units(nodePorts(spec))],
    ]);
  },
  isConcerned: ({ subresource }) => subresource === "",
  matchesScope: () => false,
};

const ownNames: ReadonlySet<string> = new Set([
  "count/services",
  "services",
  "services.nodeports",
  "services.loadbalancers",
]);

/** What will be allocated counts, whether it is already or not. */
function nodePorts(spec: Service["spec"]): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === "NodePort") return ports.length;
  if (spec?.type !== "LoadBalancer") return 0;
  if (spec.allocateLoadBalancerNodePorts !== false) return ports.length;
  return ports.filter(({ nodePort = 0 }) => nodePort !== 0).length;
}

const units = (count: number): Quantity => ({ nanos: BigInt(count) * 1_000_000_000n, format: "DecimalSI" });
