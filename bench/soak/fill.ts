// Some memories are bounded, but large: the registry's feed remembers its last 10,000 changes, each recorder of events some
// 4,000 of them. The feed and the recorder of actions are filled before anything is measured, since a cup that fills looks like
// one that has no bottom. The recorder of the other controllers is not, so the heap still rises for a while.
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { type Stage, soaked, uselessAction } from "./activity.ts";

const serviceTurns = 5_500;
const executionCount = 1_100;
const atOnce = 16;

export async function fillMemories({ client, registry }: Stage): Promise<void> {
  await each(serviceTurns, async (turn) => {
    const target = { serviceName: `filling-${turn % atOnce}-${turn}`, serviceType: "tool", host: "127.0.0.1", port: 9 };
    const registered = await registry.register(target);
    if (registered.ok) await registry.deregister(registered.data);
  });
  await each(executionCount, async (turn) => {
    await client.create(KubernetesExecution, uselessAction(`filling-${turn}`, "not-there", turn));
  });
  await client.deleteCollection(KubernetesExecution, { namespace: soaked });
}

async function each(count: number, work: (turn: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await work(next++);
    }),
  );
}
