/** For tests: the longest time that this thread worked on something before it let others run. */
export async function longestHoldMs(work: () => Promise<void>): Promise<number> {
  let longestMs = 0;
  let lastMs = threadMs();
  let isOver = false;
  const pulse = (): void => {
    longestMs = Math.max(longestMs, threadMs() - lastMs);
    lastMs = threadMs();
    if (!isOver) setImmediate(pulse);
  };
  setImmediate(pulse);
  await new Promise(setImmediate);
  longestMs = 0;
  await work();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  isOver = true;
  return longestMs;
}

/** Work is counted in this thread's processor time: the clock also counts other programs. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
