import { readdirSync, readFileSync } from "node:fs";
import { Lease } from "../../src/api/builtin/lease.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import type { Client } from "../../src/client/client.ts";
import { systemNamespace } from "./world.ts";

/** The processes of a pod's containers, found by their control group; the one that keeps the pod's network is not among them. */
export function processesOf(podUid: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(podUid)) return false;
        return !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sleep\x002147483647");
      } catch {
        // It ended while we looked.
        return false;
      }
    });
}

/** kill -9, as the kernel does it to whoever uses too much memory. Answers how many processes there were. */
export function killHard(podUid: string): number {
  const found = processesOf(podUid);
  for (const pid of found) process.kill(pid, "SIGKILL");
  return found.length;
}

/** The pod that holds a lease: identities begin with the pod's name. */
export async function leaderOf(client: Client, lease: string): Promise<Pod> {
  const { spec } = await client.get(Lease, { namespace: systemNamespace, name: lease });
  const name = (spec?.holderIdentity ?? "").split("_")[0] ?? "";
  if (name === "") throw new Error(`nobody holds the lease ${lease}`);
  return client.get(Pod, { namespace: systemNamespace, name });
}
