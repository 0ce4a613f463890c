import { createHash } from "node:crypto";
import type { ServiceTarget } from "../../api/service-target.ts";
import { labels } from "../../api/well-known.ts";
import type { ApplyObject } from "../../client/client.ts";
import { formatTime } from "../../kube/time.ts";
import type { Entry } from "../model/entry.ts";
import { recordedHealth } from "../model/instance.ts";

/** A registered service as the object that stands for it; pure. */
export function desiredObject(entry: Entry, namespace: string): ApplyObject<ServiceTarget> {
  const { target } = entry.instance;
  const spec = Object.fromEntries(Object.entries(target.toJSON()).filter(([, value]) => value !== null));
  return {
    metadata: { name: objectNameOf(target.id), namespace, labels: ownLabels },
    spec: spec as ServiceTarget["spec"],
  };
}

/** Heartbeats alone change nothing: the last one is told only together with a change of health. */
export function desiredStatus(entry: Entry, existing: ServiceTarget["status"]): NonNullable<ServiceTarget["status"]> {
  const { instance, lastSeenMs } = entry;
  const health = recordedHealth(instance);
  const reason = instance.states.at(-1)?.reason ?? instance.reason;
  const isUnchanged = existing?.health === health && existing.reason === reason;
  const lastSeen = isUnchanged
    ? existing.lastSeen
    : lastSeenMs === undefined
      ? undefined
      : formatTime(new Date(lastSeenMs));
  return {
    health,
    active: health === "HEALTHY" || health === "PENDING",
    reason,
    ...(lastSeen !== undefined && { lastSeen }),
    registeredAt: formatTime(new Date(instance.registeredAtMs)),
    ...(instance.owner !== "" && { owner: instance.owner }),
  };
}

/** The id where it can be a name, otherwise something that is always the same for it. */
export const objectNameOf = (id: string): string =>
  id.length <= maxNameLength && namePattern.test(id)
    ? id
    : `service-${createHash("sha256").update(id).digest("hex").slice(0, 40)}`;

const maxNameLength = 253;
const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const controllerLabel = "service-registry";
const ownLabels = { [labels.controller]: controllerLabel, [labels.managedBy]: "capstan" };

/** Whether the registry made it; what people made by hand is theirs. */
export const isOurs = (object: ServiceTarget): boolean =>
  object.metadata.labels?.[labels.controller] === controllerLabel;
