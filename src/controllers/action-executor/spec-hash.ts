import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { canonicalJson, sha256 } from "../../audit/chain.ts";

/** The SHA-256 of everything in a spec that decides what will run; what an approval speaks of (H4). */
export function specHashOf(spec: KubernetesExecution["spec"]): string {
  const { approvalReceived: _approval, cancel: _cancel, ...fixed } = spec;
  return sha256(canonicalJson(fixed));
}
