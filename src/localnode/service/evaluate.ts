import type { Pod } from "../../api/builtin/pod.ts";
import type { EndpointSlice, Service } from "../../api/builtin/service.ts";
import { isPodFinished, isPodReady, isPodTerminating } from "../workloads/pod-facts.ts";
import { canonical } from "../workloads/template-hash.ts";
import type { EndpointAddress, EndpointSubset } from "./endpoints-kind.ts";

export type Endpoint = EndpointSlice["endpoints"][number];
export type EndpointPort = NonNullable<EndpointSlice["ports"]>[number];

/** The endpoints that share their ports; named ports may be another number in another pod. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** The endpoints behind a Service, in an order that does not depend on the order of its pods. */
export function endpointGroups(service: Service, pods: readonly Pod[]): readonly EndpointGroup[] {
  const groups = new Map<string, { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }>();
  const byName = [...pods].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  for (const pod of byName) {
    const { podIP = "" } = pod.status ?? {};
    // The API takes no loopback addresses, and processes of this node have no others.
    if (isPodFinished(pod) || podIP === "" || podIP.startsWith("127.")) continue;
    const ports = portsOf(service, pod);
    if (ports.length === 0 && (service.spec.ports?.length ?? 0) > 0) continue;
    const id = canonical(ports);
    const group = groups.get(id) ?? { ports, endpoints: [] };
    groups.set(id, group);
    group.endpoints.push(endpointOf(service, pod, podIP));
  }
  return [...groups.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group);
}

export const maxEndpointsPerSlice = 100;

/** What the slices of a Service hold; at least one, so that readers can tell "nobody" from "not looked at yet". */
export function sliceContents(groups: readonly EndpointGroup[]): readonly EndpointGroup[] {
  const slices = groups.flatMap(({ ports, endpoints }) =>
    Array.from({ length: Math.ceil(endpoints.length / maxEndpointsPerSlice) }, (_, index) => ({
      ports,
      endpoints: endpoints.slice(index * maxEndpointsPerSlice, (index + 1) * maxEndpointsPerSlice),
    })),
  );
  return slices.length === 0 ? [{ ports: [], endpoints: [] }] : slices;
}

export function subsets(groups: readonly EndpointGroup[]): readonly EndpointSubset[] {
  return groups.map(({ ports, endpoints }) => {
    const addresses = endpoints.slice(0, maxAddresses);
    const [ready, unready] = [addresses.filter(isReady), addresses.filter((one) => !isReady(one))];
    return {
      ...(ready.length > 0 && { addresses: ready.map(addressOf) }),
      ...(unready.length > 0 && { notReadyAddresses: unready.map(addressOf) }),
      ports: ports.map(({ name, port = 0, protocol = "TCP" }) => ({ ...(name && { name }), port, protocol })),
    };
  });
}

const maxAddresses = 1_000;
const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready === true;

function addressOf({ addresses, nodeName, targetRef, hostname }: Endpoint): EndpointAddress {
  return {
    ip: addresses[0] ?? "",
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(targetRef !== undefined && { targetRef }),
  };
}

function endpointOf(service: Service, pod: Pod, address: string): Endpoint {
  const serving = isPodReady(pod);
  const terminating = isPodTerminating(pod);
  const { namespace = "", name, uid = "" } = pod.metadata;
  const hasName = pod.spec.hostname !== undefined && pod.spec.subdomain === service.metadata.name;
  return {
    addresses: [address],
    conditions: {
      ready: service.spec.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    ...(hasName && pod.spec.hostname && { hostname: pod.spec.hostname }),
    ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
}

function portsOf(service: Service, pod: Pod): readonly EndpointPort[] {
  return (service.spec.ports ?? []).flatMap(({ name = "", port, protocol = "TCP", targetPort, appProtocol }) => {
    const number = targetNumber(targetPort ?? port, protocol, pod);
    return number === undefined ? [] : [{ name, port: number, protocol, ...(appProtocol && { appProtocol }) }];
  });
}

function targetNumber(target: number | string, protocol: string, pod: Pod): number | undefined {
  if (typeof target === "number") return target;
  for (const { ports } of pod.spec.containers) {
    const found = ports?.find(({ name, protocol: own = "TCP" }) => name === target && own === protocol);
    if (found !== undefined) return found.containerPort;
  }
  return undefined;
}
