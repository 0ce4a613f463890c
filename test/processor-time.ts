/** Milliseconds of processor time that this process spends on some work: unlike the clock it does not count waiting. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1000;
}

export async function processorMsOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return process.cpuUsage(before).user / 1000;
}
