import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { serverClock } from "../../src/client/server-clock.ts";
import type { Env } from "../../src/env/env.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { createManager, type Manager } from "../../src/runtime/manager.ts";
import { seededRandom } from "../../src/testing/seeded.ts";
import type { Mutation } from "./mutation.ts";
import { type ProcessClock, processClock } from "./process-clock.ts";
import type { SimulatedApi } from "./simulated-api.ts";
import { Wire } from "./wire.ts";

/** One incarnation of a program: its clocks, its wire and its manager. It can crash, be stopped, and never comes back. */
export interface SimulatedProcess {
  readonly who: string;
  readonly clock: ProcessClock;
  readonly wire: Wire;
  readonly manager: Manager;
  /** As SIGTERM asks for it: it drains and puts away what it holds. */
  stop(): Promise<void>;
  kill(): void;
}

export interface ProgramParts {
  readonly api: SimulatedApi;
  readonly who: string;
  readonly clock: ProcessClock;
  /** What else has to be put away when it is asked to stop. */
  readonly atStop: (() => Promise<void>)[];
  readonly mutation?: Mutation;
  readonly env: Env;
  readonly client: Client;
  readonly manager: Manager;
}

export interface ProcessOptions {
  readonly who: string;
  readonly seed: number;
  readonly clockRate: number;
  /** Absent: it believes that it is alone. */
  readonly lease?: string;
  readonly controllers: (parts: ProgramParts) => readonly Controller[];
  readonly crashAt: (write: number) => "before" | "after" | undefined;
  /** By a crash, or because it has lost its lease. */
  readonly onEnd: () => void;
  readonly mutation?: Mutation;
}

export function startProcess(api: SimulatedApi, options: ProcessOptions): SimulatedProcess {
  const { who, seed, lease, mutation } = options;
  const clock = processClock(api.env, seed, options.clockRate);
  const kill = (): void => {
    if (clock.hasEnded) return;
    clock.end();
    api.journal.note(`${who} ended`);
    options.onEnd();
  };
  const wire = new Wire({
    clock,
    base: api.env,
    random: seededRandom(seed + 1),
    api: api.as(who),
    revision: api.revision,
    crashAt: options.crashAt,
    onCrash: kill,
  });
  const own = mutation?.env?.(clock) ?? clock;
  const server = serverClock({ env: own, transport: mutation?.transport?.(wire.handle, own) ?? wire.handle });
  // As the composition root of a cluster does it: every replica goes by the clock of the API server.
  const env = mutation?.ownTime ? own : { ...own, now: server.now };
  const client = createClient({ env, transport: server.transport, userAgent: who });
  const manager = createManager({
    env,
    client,
    instance: who,
    drainMs: 5_000,
    ...(lease !== undefined && {
      watcher: { relistEveryMs: mutation?.relistEveryMs ?? relistEveryMs },
      leaderElection: { name: lease, namespace: "default", identity: who, retryPeriodMs },
    }),
  });
  const atStop: (() => Promise<void>)[] = [];
  const parts = { api, who, clock, atStop, env, client, manager, ...(mutation && { mutation }) };
  for (const controller of options.controllers(parts)) manager.add(mutation?.controller?.(controller) ?? controller);
  void manager.start();
  void manager.stopped.then((reason) => {
    if (reason !== undefined) kill();
  });
  const stop = async (): Promise<void> => {
    await manager.stop();
    for (const putAway of atStop) await putAway();
  };
  return { who, clock, wire, manager, stop, kill };
}

/** The product lists again every hour; here more often, so that a run need not last for hours. */
export const relistEveryMs = 150_000;
/** Twice the product's: half of all requests of a run would be renewals otherwise. */
const retryPeriodMs = 4_000;
