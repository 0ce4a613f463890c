import { Pod } from "../../api/builtin/pod.ts";
import { type IndexDeclaration, index } from "../../runtime/controller.ts";

/** Ways to find pods without looking at all of them. */
export const podNodeIndex = "localnode.capstan.dev/node";
/** By node; the empty value has the pods that wait for one. */
export const byNode: IndexDeclaration = index(Pod, podNodeIndex, ({ spec }) => [spec.nodeName ?? ""]);

export const podAddressIndex = "localnode.capstan.dev/address";
export const byAddress: IndexDeclaration = index(Pod, podAddressIndex, ({ status }) =>
  status?.podIP ? [status.podIP] : [],
);
