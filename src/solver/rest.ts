import { type Env, sleep } from "../env/env.ts";
import { isSystemTime } from "../env/system.ts";

/** How long the event loop is held at a time. */
export interface Pace {
  readonly sliceMs: number;
  /** A question that is broken off again and again gets longer slices, up to this, so that it comes to an end. */
  readonly maxSliceMs: number;
}

/** Where others wait for the same event loop. */
export const besideOthers: Pace = { sliceMs: 10, maxSliceMs: 25 };
/** On a thread of its own, where nobody waits but whoever says that the answer is not wanted any more. */
export const byItself: Pace = { sliceMs: 40, maxSliceMs: 100 };

/** Long work done in slices: asked often, it answers a promise only when others should be let run. */
export interface Rest {
  /** Undefined while the slice lasts. */
  (): Promise<void> | undefined;
  isOver(): boolean;
  /** Lets others run now, and begins the next slice. */
  take(lengthMs?: number): Promise<void>;
}

export function createRest(env: Env, signal?: AbortSignal, { sliceMs }: Pace = besideOthers): Rest {
  const turn = isSystemTime(env) ? sharedTurn : turnIn(env);
  let length = sliceMs;
  let lookAtMs = env.monotonicMs();
  const isOver = (): boolean => {
    // To ask for the processor time takes longer than to ask for the time, which passes no slower.
    const nowMs = env.monotonicMs();
    if (nowMs < lookAtMs) return false;
    const leftMs = length - turn.workedMs();
    if (leftMs <= toleranceMs) return true;
    lookAtMs = nowMs + leftMs;
    return false;
  };
  const take = async (lengthMs = sliceMs): Promise<void> => {
    await turn.pass(signal);
    length = lengthMs;
    lookAtMs = env.monotonicMs() + length;
  };
  return Object.assign(() => (isOver() ? take() : undefined), { isOver, take });
}

const toleranceMs = 0.5;

/** One turn of an event loop. */
interface Turn {
  /** How long it has been worked in this turn. */
  workedMs(): number;
  /** Resolves in another turn. */
  pass(signal: AbortSignal | undefined): Promise<void>;
}

/** In a simulation time is what its clock says, and each piece of work has its own. */
function turnIn(env: Env): Turn {
  let begunMs = env.monotonicMs();
  return {
    workedMs: () => env.monotonicMs() - begunMs,
    async pass(signal) {
      await sleep(env, 0, signal);
      begunMs = env.monotonicMs();
    },
  };
}

/**
 * The turns of this thread's real event loop. All long work shares them, and only one piece goes on in each: ten pieces
 * with a slice each would hold the others up ten times as long. A slice is a share of work, so it is counted in this
 * thread's own processor time: by the clock, a slice on a busy machine could pass without anything being done, and a large
 * question would never come to its end.
 */
const sharedTurn: Turn = (() => {
  let begunMs: number | undefined;
  const waiting: (() => void)[] = [];
  const busyMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const begin = (): number => {
    // Whatever runs after this belongs to the next turn.
    setImmediate(() => {
      begunMs = undefined;
    });
    begunMs = busyMs();
    return begunMs;
  };
  const goOn = (): void => {
    begin();
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(goOn);
  };
  return {
    workedMs: () => busyMs() - (begunMs ?? begin()),
    async pass(signal) {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        // Unlike the timers of the real world, this keeps a program alive that waits for nothing but its answer.
        if (waiting.push(resolve) === 1) setImmediate(goOn);
      });
      signal?.throwIfAborted();
    },
  };
})();
