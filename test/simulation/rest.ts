import { describeWrite, isOfInterest } from "./journal.ts";
import { isPlane } from "./properties.ts";
import type { SimulatedApi } from "./simulated-api.ts";
import type { Stage } from "./stage.ts";
import type { Story } from "./story.ts";

/** A plane that never stops writing would keep the simulation for hours. */
export async function advance(api: SimulatedApi, durationMs: number): Promise<void> {
  for (let leftMs = durationMs; leftMs > 0; leftMs -= sliceMs) {
    await api.env.advance(Math.min(sliceMs, leftMs));
    const { length } = api.journal.writes;
    if (length > maxWrites) throw new Overrun(`${length} writes in one run`);
  }
}

export class Overrun extends Error {}
const sliceMs = 2_000;
const maxWrites = 1_500;

/** P1: after the last fault the plane comes to rest, and then nothing is written for longer than it lists again. */
export async function rest(api: SimulatedApi, stage: Stage, quietMs = defaultQuietMs): Promise<readonly string[]> {
  const deadlineMs = api.env.monotonicMs() + restWithinMs;
  // Not even a plane that has written nothing yet is taken to rest before it has had the time.
  for (let last = Number.NaN; ; ) {
    const { writes } = api.journal;
    const quietSince = writes.findLastIndex((write) => isOfInterest(write) && isPlane(write.who));
    if (quietSince === last) return [];
    if (api.env.monotonicMs() > deadlineMs) {
      const latest = writes.slice(-5).map(describeWrite).join("; ");
      return [`P1 no rest within ${restWithinMs / 60_000} minutes; the last writes: ${latest}`];
    }
    last = quietSince;
    for (const process of stage.plane) process.wire.heal();
    const before = reconcilesOf(stage);
    await advance(api, quietMs);
    const reconciles = reconcilesOf(stage) - before;
    if (reconciles > (maxReconcilesAtRest * quietMs) / defaultQuietMs)
      return [`P20 ${reconciles} reconciles in ${quietMs / 60_000} quiet minutes`];
  }
}

/** P2: processes that begin anew find everything as they would make it. */
export async function restartQuietly(
  api: SimulatedApi,
  stage: Stage,
  { appliesAnew = false }: Story,
): Promise<readonly string[]> {
  const before = api.journal.writes.length;
  for (const process of stage.plane) process.kill();
  await advance(api, 60_000);
  const more = api.journal.writes
    .slice(before)
    .filter((write) => isOfInterest(write) && isPlane(write.who) && (write.isChange || !appliesAnew));
  return more.map((write) => `P2 a new process writes what was there already (${describeWrite(write)})`);
}

const reconcilesOf = (stage: Stage): number =>
  stage.plane.flatMap(({ manager }) => manager.controllers).reduce((sum, { reconciles }) => sum + reconciles, 0);

/** Every object is looked at again after each list, and some ask for it; nobody polls. */
const maxReconcilesAtRest = 300;
const restWithinMs = 3_600_000;
const defaultQuietMs = 180_000;
