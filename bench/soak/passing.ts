// Things that come and go, so that nothing should be left of them: each is another one, under a name of its own, and large
// enough to be noticed when anything keeps it.
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { WorldInstance } from "../../src/api/world-instance.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import { anvil, briefWorld, type Stage, soaked, uselessAction } from "./activity.ts";

export async function comeAndGo(stage: Stage, from: number, count: number, signal: AbortSignal): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await one(stage, from + next++, signal);
    }),
  );
}

const atOnce = 4;
/** Long enough for controllers to see what came before it goes. */
const stays = 8;

async function one(stage: Stage, turn: number, signal: AbortSignal): Promise<void> {
  const { client, registry, look } = stage;
  const named = (number: number): string => `passing-${number}`;
  const name = named(turn);
  const looking = turn % looksEvery === 0 ? look(signal) : undefined;
  const world = briefWorld(name);
  await client.create(WorldInstance, { ...world, metadata: { ...world.metadata, annotations } });
  const action = uselessAction(name, "not-there", turn);
  await client.create(KubernetesExecution, { ...action, metadata: { ...action.metadata, annotations } });
  await client.create(ConfigMap, { metadata: { name, namespace: soaked, annotations } });
  const target = { serviceName: name, serviceType: "tool", host: "127.0.0.1", port: 9 };
  const registered = await registry.register(target);
  if (!registered.ok) throw new Error(registered.message);
  await registry.ping(registered.data.id);
  await registry.deregister(registered.data);
  await leave(stage, named(turn - stays));
  await looking;
}

const looksEvery = 10;
export const objectBytes = 100_000;
const annotations = { ballast: "x".repeat(objectBytes) };

/** Whatever is left of those who came last. */
export async function allLeave(stage: Stage, after: number): Promise<void> {
  for (let turn = after - stays - atOnce; turn < after; turn++) await leave(stage, `passing-${turn}`);
}

async function leave({ client }: Stage, name: string): Promise<void> {
  const gone = (error: unknown): void => {
    if (!isNotFound(error)) throw error;
  };
  await client.delete(WorldInstance, { namespace: anvil, name }).catch(gone);
  await client.delete(KubernetesExecution, { namespace: soaked, name }).catch(gone);
  await client.delete(ConfigMap, { namespace: soaked, name }).catch(gone);
}
