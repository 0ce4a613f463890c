import { Secret } from "../../../src/api/builtin/configuration.ts";
import { Deployment } from "../../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../../src/api/remediation-request.ts";
import { WorkflowExecution } from "../../../src/api/workflow-execution.ts";
import { actionControllers, defaultActionSettings } from "../../../src/control-plane/actions.ts";
import { applyObjects } from "../../../src/control-plane/install.ts";
import { actionObjects } from "../../../src/controllers/action-executor/install.ts";
import { isTerminal } from "../../../src/controllers/action-executor/phases.ts";
import type { KubeObject } from "../../../src/kube/object.ts";
import { actionContainers, actionImage } from "../action-container.ts";
import { actionPromises } from "../action-promises.ts";
import { type MemoryTrail, memoryTrail } from "../memory-trail.ts";
import type { SimulatedApi } from "../simulated-api.ts";
import type { Step, Story } from "../story.ts";
import { namespace, remove } from "../user.ts";

const trails = new WeakMap<SimulatedApi, MemoryTrail>();
const trailOf = (api: SimulatedApi): MemoryTrail => {
  const known = trails.get(api) ?? memoryTrail(api.env, api.journal);
  trails.set(api, known);
  return known;
};

/** Changes to a cluster, one by one and as remediations, carried out by Jobs whose pods may start twice. */
export const actions: Story = actionStory("actions", script, defaultActionSettings.approvalTimeoutMs);

/** The same programs and promises for whatever is asked of them. */
export function actionStory(name: string, script: Story["script"], approvalTimeoutMs: number): Story {
  return {
    name,
    groups: [KubernetesExecution.group, RemediationRequest.group, WorkflowExecution.group],
    controllers: ({ api, env, manager, mutation }) => {
      const trail = trailOf(api).of(env);
      return actionControllers({
        env,
        metrics: manager.metrics,
        image: actionImage,
        actions: {
          audit: mutation?.trail?.(trail, env) ?? trail,
          settings: { ...defaultActionSettings, coolDownMs: 1_000, approvalTimeoutMs },
        },
      });
    },
    hasNode: true,
    containers: actionContainers,
    setUp: (client) => applyObjects(client, [...actionObjects(), deployment("web"), deployment("api")]),
    compares: [KubernetesExecution, RemediationRequest, Deployment],
    // A refusal or a lost minute decides an action for good, so its end may be another one; its promises are the same.
    isHistory: true,
    children: [],
    // Nobody watches Secrets, so no uid is known; the name itself carries a hash of the execution's.
    namedByUid: [Secret.plural],
    script,
    watch: (look, api) => actionPromises(look, trailOf(api)),
    finally: async (client) => {
      const { items } = await client.list(KubernetesExecution);
      const stuck = items.filter(({ status }) => !isTerminal(status?.phase) && status?.phase !== "rollback_ready");
      return stuck.map(({ metadata, status }) => `P1 execution ${metadata.name} rests in ${status?.phase}`);
    },
  };
}

const deployment = (name: string): KubeObject =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  }) as KubeObject;

export const scaling = (name: string, replicas: number): object => ({
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: name, namespace, replicas } },
});

/** What admission would have written down. */
export const asked = { "capstan.dev/requested-by": "user", "capstan.dev/requested-by-groups": "system:masters" };

function script(random: () => number): readonly Step[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const atMs = (): number => 4_000 + Math.floor(random() * 130_000);
  const steps: Step[] = [];
  for (let index = 1; index <= 3; index++) {
    const target = pick(["web", "api"]);
    const spec = scaling(target, index + 1);
    const metadata = { name: `scale-${index}`, namespace, annotations: asked };
    const run: Step["run"] = (client) => client.create(KubernetesExecution, { metadata, spec } as never);
    steps.push({ atMs: atMs(), what: `scale ${target} to ${index + 1}`, run });
  }
  const metadata = { name: "fix", namespace, annotations: asked };
  const step = (stepNumber: number, name: string, more = {}): object => ({ stepNumber, ...scaling(name, 2), ...more });
  const spec = {
    steps: [step(1, "web"), step(2, pick(["api", "ghost"]), { dependsOn: [1] })],
    rollbackOnFailure: true,
  };
  steps.push({
    atMs: atMs(),
    what: "a remediation of two steps",
    run: (client) => client.create(RemediationRequest, { metadata, spec } as never),
  });
  if (random() < 0.3)
    steps.push({
      atMs: atMs(),
      what: "scale-1 is deleted",
      run: (client) => remove(client, KubernetesExecution, "scale-1"),
    });
  return steps.sort((one, other) => one.atMs - other.atMs);
}
