/** The types that follow from the definitions, checked by the compiler: this file fails at `tsc` before it fails here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceOf } from "../kube/kind.ts";
import type { Action, ParametersOf } from "./action.ts";
import type { Pod } from "./builtin/pod.ts";
import type { Deployment } from "./builtin/workloads.ts";
import type { CapabilityBinding } from "./capability-binding.ts";
import type { ClassRuntimePhase, ClassRuntimeReason } from "./class-runtime.ts";
import type { KubernetesExecution } from "./kubernetes-execution.ts";
import type { PaperMCServer } from "./papermc-server.ts";
import type { WorldInstance, WorldReason } from "./world-instance.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const proven = <T extends true>(proof: T): T => proof;

test("required and defaulted fields are always there, optional ones may be missing", () => {
  proven<Equal<WorldInstance["spec"]["shardCount"], number>>(true);
  proven<Equal<WorldInstance["spec"]["desiredState"], "Running" | "Stopped">>(true);
  proven<Equal<WorldInstance["spec"]["parameters"], Readonly<Record<string, string>> | undefined>>(true);
  proven<Equal<PaperMCServer["spec"]["updateSchedule"]["timeZone"], string>>(true);
  proven<Equal<undefined extends WorldInstance["status"] ? true : false, true>>(true);
});

test("closed sets are unions", () => {
  proven<Equal<CapabilityBinding["spec"]["multiplicity"], "1" | "many">>(true);
  proven<Equal<WorldReason<"ModulesResolved">, "ModulesLoaded" | "GameDefinitionNotFound" | "ModuleManifestNotFound">>(
    true,
  );
  proven<Equal<"CrashLoop" extends ClassRuntimeReason<"Degraded"> ? true : false, true>>(true);
  proven<Equal<"CrashLoop" extends ClassRuntimeReason<"NfrObserved"> ? true : false, false>>(true);
  proven<Equal<KubernetesExecution["spec"]["action"], Action>>(true);
  const phase: ClassRuntimePhase = "available";
  assert.equal(phase, "available");
});

test("an action's parameters are typed", () => {
  const parameters: ParametersOf<"scale_deployment"> = { deployment: "web", namespace: "shop", replicas: 3 };
  // @ts-expect-error: replicas are a number.
  const wrong: ParametersOf<"scale_deployment"> = { deployment: "web", namespace: "shop", replicas: "3" };
  assert.notDeepEqual(parameters, wrong);
});

test("built-in kinds can be written and read without casts", () => {
  const deployment: ResourceOf<typeof Deployment> = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "nginx", resources: { requests: { cpu: "100m" } } }] },
      },
    },
  };
  const restarts = (pod: Pod): number => pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
  assert.equal(restarts({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { containers: [] } }), 0);
  assert.equal(deployment.spec.replicas ?? 1, 1);
  assert.equal(deployment.status?.availableReplicas, undefined);
});
