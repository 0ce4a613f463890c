import { arch, availableParallelism, platform, release, totalmem } from "node:os";
import type { Node } from "../../api/builtin/cluster.ts";
import { serverVersion } from "../../apiserver/version.ts";
import { findCondition } from "../../kube/condition.ts";
import { nameHash } from "../../kube/names.ts";
import { formatTime } from "../../kube/time.ts";

/** The one machine that there is, as a Node tells it. */
export function nodeLabels(name: string): Readonly<Record<string, string>> {
  return {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": operatingSystem(),
    "kubernetes.io/arch": architecture(),
    "beta.kubernetes.io/os": operatingSystem(),
    "beta.kubernetes.io/arch": architecture(),
  };
}

export interface NodeFacts {
  readonly name: string;
  readonly address: string;
  readonly maxPods: number;
  readonly version: string;
}

export function nodeStatus(facts: NodeFacts, before: Node["status"], now: Date): NonNullable<Node["status"]> {
  const capacity = {
    cpu: String(availableParallelism()),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    "ephemeral-storage": "100Gi",
    pods: String(facts.maxPods),
  };
  const id = nameHash(`${facts.name} ${facts.address}`, 32);
  return {
    ...before,
    capacity,
    allocatable: capacity,
    conditions: claims.map(({ type, status, reason, message }) => {
      const old = findCondition(before?.conditions, type);
      return {
        type,
        status,
        lastHeartbeatTime: formatTime(now),
        lastTransitionTime: (old?.status === status ? old.lastTransitionTime : undefined) ?? formatTime(now),
        reason,
        message,
      };
    }),
    addresses: [
      { type: "InternalIP", address: facts.address },
      { type: "Hostname", address: facts.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: {
      machineID: id,
      systemUUID: id,
      bootID: id,
      kernelVersion: release(),
      osImage: `Capstan ${facts.version}`,
      containerRuntimeVersion: `capstan://${facts.version}`,
      kubeletVersion: serverVersion.gitVersion,
      kubeProxyVersion: "",
      operatingSystem: operatingSystem(),
      architecture: architecture(),
    },
  } as NonNullable<Node["status"]>;
}

const claims = [
  pressure("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
  pressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
  pressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
  { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
] as const;

function pressure(type: string, reason: string, message: string) {
  return { type, status: "False", reason, message } as const;
}

const operatingSystem = (): string => (platform() === "win32" ? "windows" : platform());
const architecture = (): string => ({ x64: "amd64", ia32: "386" })[arch() as string] ?? arch();
