import type { ContainerStatus, Pod } from "../../api/builtin/pod.ts";
import { formatTime } from "../../kube/time.ts";

interface WithEphemeral {
  readonly ephemeralContainers?: readonly { readonly name: string; readonly image?: string }[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
}

/** Containers of `kubectl debug`: there is no container for them to look into, so they end at once and say why. */
export function ephemeralStatuses(pod: Pod, now: Date): readonly ContainerStatus[] {
  const { ephemeralContainers = [] } = pod.spec as WithEphemeral;
  const { ephemeralContainerStatuses = [] } = (pod.status ?? {}) as WithEphemeral;
  return ephemeralContainers.map(
    ({ name, image = "" }) =>
      ephemeralContainerStatuses.find((status) => status.name === name) ?? {
        name,
        image,
        imageID: "",
        ready: false,
        restartCount: 0,
        state: {
          terminated: {
            exitCode: 128,
            reason: "ContainerCannotRun",
            message: "the local node does not run ephemeral containers",
            startedAt: formatTime(now),
            finishedAt: formatTime(now),
          },
        },
        lastState: {},
      },
  );
}
