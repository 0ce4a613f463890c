import { KubernetesExecution } from "../../../src/api/kubernetes-execution.ts";
import { demandAnnotations } from "../../../src/controllers/action-executor/names.ts";
import { specHashOf } from "../../../src/controllers/action-executor/spec-hash.ts";
import { formatTime } from "../../../src/kube/time.ts";
import { approver } from "../action-promises.ts";
import type { SimulatedApi } from "../simulated-api.ts";
import type { Step, Story } from "../story.ts";
import { namespace } from "../user.ts";
import { actionStory, asked, scaling } from "./actions.ts";

/** Short enough to run out while things go wrong. */
const approvalTimeoutMs = 40_000;

/** Actions that wait for somebody's word, and get the right one, a wrong one, one too late, or none. */
export const approvals: Story = actionStory("approvals", script, approvalTimeoutMs);

function script(random: () => number): readonly Step[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  return Array.from({ length: 4 }, (_, index) => {
    const name = `change-${index + 1}`;
    const target = pick(["web", "api"]);
    const atMs = 4_000 + Math.floor(random() * 80_000);
    const metadata = { name, namespace, annotations: { ...asked, [demandAnnotations.approval]: "true" } };
    const create: Step = {
      atMs,
      what: `${name} is to scale ${target} to ${index + 2}`,
      run: (client) => client.create(KubernetesExecution, { metadata, spec: scaling(target, index + 2) } as never),
    };
    const words = Array.from({ length: 1 + Math.floor(random() * 2) }, (): Step => {
      const [what, said] = pick(possible);
      const run: Step["run"] = (_client, api) => say(api, name, said);
      return { atMs: atMs + 1_000 + Math.floor(random() * 60_000), what: `${name} ${what}`, run };
    });
    return [create, ...words];
  })
    .flat()
    .sort((one, other) => one.atMs - other.atMs);
}

interface Word {
  readonly decision: "Approved" | "Rejected";
  readonly by: string;
  /** Of what the execution says now, unless it was read somewhere else. */
  readonly specHash?: string;
}

const elsewhere = specHashOf(scaling("web", 9) as never);

const possible: readonly (readonly [string, Word])[] = [
  ["is approved by bob", { decision: "Approved", by: "bob" }],
  ["is approved by bob", { decision: "Approved", by: "bob" }],
  ["is approved by who asked for it", { decision: "Approved", by: "user" }],
  ["is approved by bob, who has read another spec", { decision: "Approved", by: "bob", specHash: elsewhere }],
  ["is rejected by bob", { decision: "Rejected", by: "bob" }],
];

/** As admission would leave it: with the time, and the hash where none was given. */
async function say(api: SimulatedApi, name: string, word: Word): Promise<void> {
  const client = api.clientOf(approver);
  const { spec, status } = await client.get(KubernetesExecution, { namespace, name });
  // Once it runs, there is nothing left to say.
  if (status?.phase !== "waiting_approval" && status?.phase !== "validated") return;
  const approval = { specHash: specHashOf(spec), ...word, at: formatTime(api.env.now()) };
  const value = { status: { approval } };
  await client.patch(KubernetesExecution, { namespace, name }, { type: "merge", value }, { subresource: "status" });
}
