import { performance } from "node:perf_hooks";

export interface RequestRates {
  readonly sequentialPerSecond: number;
  readonly concurrentPerSecond: number;
  readonly cpuMicrosPerRequest: number;
}

/** Requests per second, one after the other and 32 at a time, after a short warm-up of the same kind. */
export async function measureRequests(get: () => Promise<unknown>): Promise<RequestRates> {
  const sequential = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn++) await get();
  };
  const concurrent = async (count: number): Promise<void> => {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await get();
    };
    await Promise.all(Array.from({ length: 32 }, worker));
  };
  const timed = async (work: (count: number) => Promise<void>, count: number): Promise<number> => {
    const started = performance.now();
    await work(count);
    return (count / (performance.now() - started)) * 1000;
  };
  await sequential(50);
  await concurrent(100);
  const sequentialPerSecond = await timed(sequential, 300);
  const cpuBefore = process.cpuUsage();
  const concurrentPerSecond = await timed(concurrent, 1_000);
  const cpu = process.cpuUsage(cpuBefore);
  return { sequentialPerSecond, concurrentPerSecond, cpuMicrosPerRequest: (cpu.user + cpu.system) / 1_000 };
}

/** The longest time that the event loop did not turn. */
export function loopBlock(): { stop(): number } {
  let longestMs = 0;
  let lastMs = performance.now();
  const look = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const ticker = setInterval(look, 1);
  return {
    stop() {
      look();
      clearInterval(ticker);
      return longestMs;
    },
  };
}
