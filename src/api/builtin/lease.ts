/** Leases: who leads. Times have exactly six fraction digits, or the server refuses them. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { dateTime, integer, optional, string } from "../../kube/schema/build.ts";
import { openObject } from "./open-object.ts";

export const Lease = defineKind({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  description: "Who holds a right, and until when.",
  spec: openObject({
    holderIdentity: optional(string()),
    leaseDurationSeconds: optional(integer()),
    acquireTime: optional(dateTime()),
    renewTime: optional(dateTime()),
    leaseTransitions: optional(integer()),
    strategy: optional(string()),
    preferredHolder: optional(string()),
  }),
});
export type Lease = ResourceOf<typeof Lease>;
