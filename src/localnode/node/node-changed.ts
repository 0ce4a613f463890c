import type { Node } from "../../api/builtin/cluster.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { Predicate } from "../../runtime/predicates.ts";

/** More than a heartbeat: the server counts no generations of nodes. */
export const nodeChanged: Predicate<Node> = (change) =>
  change.kind !== "Updated" ||
  !deepEqual(change.old.spec, change.object.spec) ||
  !deepEqual(change.old.metadata.labels, change.object.metadata.labels);
