/**
 * Counts the work of going through values for whoever evaluates. Values share their parts, so a small one may be endless to
 * write out or compare; with this every walk over values ends where the evaluation's limits say.
 */
let count: () => void = uncounted;

/** Called once for each composite value that is gone through. */
export const visit = (): void => count();

export function countWork(counter: () => void, run: () => void): void {
  const outer = count;
  count = counter;
  try {
    run();
  } finally {
    count = outer;
  }
}

function uncounted(): void {}
