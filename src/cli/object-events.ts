import type { Client } from "../client/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { type CoreEvent, CoreEventKind } from "../runtime/events.ts";

/** What happened to an object, oldest first. */
export interface ObjectEvent {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

export async function eventsOf(client: Client, { metadata }: KubeObject): Promise<readonly ObjectEvent[]> {
  const { items } = await client.list<CoreEvent>(CoreEventKind, {
    namespace: metadata.namespace ?? "default",
    fieldSelector: `involvedObject.uid=${metadata.uid}`,
  });
  return items
    .toSorted((left, right) => compare(left.lastTimestamp, right.lastTimestamp) || writtenAt(left) - writtenAt(right))
    .map(({ lastTimestamp, type, reason, message, count }) => ({ time: lastTimestamp, type, reason, message, count }));
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** Times have only seconds; within one, the order of writing tells. */
const writtenAt = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? 0);
