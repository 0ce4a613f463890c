import type { ContainerStatus, Pod } from "../../api/builtin/pod.ts";
import type { EventNote } from "../../runtime/events.ts";
import type { PodStatus } from "./pod-status.ts";

/** What has happened between two statuses, as `kubectl describe` tells it. */
export function podEvents(pod: Pod, after: PodStatus): readonly EventNote[] {
  const before = new Map(statusesOf(pod.status ?? {}).map((status) => [status.name, status]));
  return statusesOf(after).flatMap((status) => containerEvents(pod, before.get(status.name), status));
}

const statusesOf = ({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): readonly ContainerStatus[] => [
  ...initContainerStatuses,
  ...containerStatuses,
];

function containerEvents(pod: Pod, before: ContainerStatus | undefined, after: ContainerStatus): readonly EventNote[] {
  const { name } = after;
  const { running, waiting } = after.state ?? {};
  const isNewRun = before?.restartCount !== after.restartCount || before?.state?.running === undefined;
  if (running !== undefined && isNewRun) return [normal("Started", `Started container ${name}`)];
  if (waiting === undefined || waiting.reason === before?.state?.waiting?.reason) return [];
  switch (waiting.reason) {
    case "CrashLoopBackOff": {
      const { name: podName, namespace, uid } = pod.metadata;
      return [
        warning("BackOff", `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`),
      ];
    }
    case "ImagePullBackOff":
      return [warning("BackOff", waiting.message ?? "")];
    case "CreateContainerConfigError":
    case "CreateContainerError":
      return [warning("Failed", `Error: ${waiting.message ?? waiting.reason}`)];
    default:
      return waiting.message === undefined ? [] : [warning("FailedMount", waiting.message)];
  }
}

const normal = (reason: string, message: string): EventNote => ({ type: "Normal", reason, message });
const warning = (reason: string, message: string): EventNote => ({ type: "Warning", reason, message });
