import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";

/** The older form of EndpointSlices, which `kubectl get endpoints` and many programs still read. */
export interface Endpoints extends KubeObject {
  readonly subsets?: readonly EndpointSubset[];
}

export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
}

export interface EndpointAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: {
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}

export const Endpoints: KindRef<Endpoints> = {
  group: "",
  version: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
};
