import assert from "node:assert/strict";
import { printed } from "./install.ts";
import { type ClusterWorld, eventually } from "./world.ts";

/** As docs/operations/upgrade.md says it; afterwards nothing of ours is left. */
export async function uninstall(world: ClusterWorld): Promise<void> {
  const kinds = "worldinstances,classruntimes,papermcservers,plugins,kubernetesexecutions,remediationrequests";
  await world.kubectl(["delete", kinds, "-A", "--all", "--timeout=120s"]);
  await world.kubectl(["delete", "--ignore-not-found", "--timeout=170s", "-f", "-"], printed(`--image=${world.image}`));
  await eventually(
    () => left(world),
    (names) => assert.deepEqual(names, []),
  );
}

async function left({ kubectl }: ClusterWorld): Promise<readonly string[]> {
  const labelled = await kubectl([
    "get",
    "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingwebhookconfigurations,namespaces",
    "-l",
    "app.kubernetes.io/managed-by=capstan",
    "-o",
    "name",
  ]);
  const definitions = await kubectl(["get", "crds", "-o", "name"]);
  return [labelled, definitions].flatMap((text) => text.split("\n").filter((line) => line !== ""));
}
