import type { KubernetesExecution } from "../../../api/kubernetes-execution.ts";
import type { Approval } from "../../../api/kubernetes-execution-status.ts";

/** Written by admission when somebody who may approve sets `spec.approvalReceived`; the status cannot be written there. */
export const approvalAnnotations = {
  by: "capstan.dev/approved-by",
  at: "capstan.dev/approved-at",
  specHash: "capstan.dev/approved-spec-hash",
} as const;

/** The word that was given on an execution, by whichever of the two ways. */
export function givenApproval({ metadata, status }: KubernetesExecution): Approval | undefined {
  if (status?.approval) return status.approval;
  const {
    [approvalAnnotations.by]: by,
    [approvalAnnotations.at]: at,
    [approvalAnnotations.specHash]: specHash,
  } = metadata.annotations ?? {};
  return by && at && specHash ? { decision: "Approved", by, at, specHash } : undefined;
}
