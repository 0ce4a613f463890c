import { StatefulSet } from "../../api/builtin/workloads.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { ActContext } from "../../runtime/controller.ts";
import { fieldManager } from "./children.ts";

/**
 * Before the first apply to a workload that the original operator made. It wrote by updates, under the name that we apply
 * under: unless those fields are made ours, nothing of it could ever be removed again, and an old container would go on
 * beside the new one. Answers what the API refused.
 */
export async function takeOver(
  { metadata }: StatefulSet,
  { live, write }: Pick<ActContext<PaperMCServer>, "live" | "write">,
): Promise<string | undefined> {
  const found = await live.get(StatefulSet, metadata);
  const { managedFields = [], resourceVersion, uid } = found.metadata;
  if (uid !== metadata.uid || managedFields.some(isOurs)) return undefined;
  const wrote = managedFields.find((entry) => entry.manager === fieldManager && isUpdate(entry));
  if (!wrote) return undefined;
  const next = managedFields.map((entry) => (entry === wrote ? { ...entry, operation: "Apply" as const } : entry));
  const answer = await write.patch(StatefulSet, metadata, {
    type: "merge",
    value: { metadata: { uid, resourceVersion, managedFields: next } },
  });
  return answer.ok ? undefined : answer.message;
}

type Entry = NonNullable<StatefulSet["metadata"]["managedFields"]>[number];

const isOurs = ({ manager, operation }: Entry): boolean => manager === fieldManager && operation === "Apply";
const isUpdate = ({ operation, subresource }: Entry): boolean =>
  operation === "Update" && (subresource === undefined || subresource === "");
