/** From a recommendation for a whole class to a size for one pod, in steps that do not disturb more than they help. */
export interface MemorySize {
  /** Where the steps lead to. */
  readonly goalBytes: number;
  readonly requestBytes: number;
  readonly limitBytes: number;
}

const mebibyte = 1024 * 1024;
const memoryStep = 16 * mebibyte;
const requestBounds = { min: 64 * mebibyte, max: 4096 * mebibyte } as const;
const limitBounds = { min: 128 * mebibyte, max: 8192 * mebibyte } as const;
const limitFactor = 1.5;

export function memorySize(totalBytes: number, pods: number, currentRequestBytes: number | undefined): MemorySize {
  const goalBytes = clamp(roundUp(totalBytes / Math.max(1, pods), memoryStep), requestBounds);
  const requestBytes = limitedStep(goalBytes, currentRequestBytes, memoryStep);
  return { goalBytes, requestBytes, limitBytes: clamp(roundUp(requestBytes * limitFactor, memoryStep), limitBounds) };
}

const cpuStep = 10;
const cpuBounds = { min: 10, max: 8_000 } as const;

export interface CpuSize {
  readonly goalMillis: number;
  readonly requestMillis: number;
}

export function cpuSize(totalMillis: number, pods: number, currentMillis: number | undefined): CpuSize {
  const goalMillis = clamp(roundUp(totalMillis / Math.max(1, pods), cpuStep), cpuBounds);
  return { goalMillis, requestMillis: limitedStep(goalMillis, currentMillis, cpuStep) };
}

/** A goal that is nearer than this is not worth new pods. */
export const isWorthwhile = (current: number | undefined, goal: number, alwaysAbove: number): boolean => {
  if (current === undefined || current === 0) return true;
  const difference = Math.abs(goal - current);
  return difference / current >= minChange || difference >= alwaysAbove;
};
export const memoryAlwaysAbove = 64 * mebibyte;

const minChange = 0.2;
const maxChange = 0.25;

/** At most a quarter at once, in whole steps, and at least one step. */
function limitedStep(wanted: number, current: number | undefined, step: number): number {
  if (current === undefined || current === 0) return wanted;
  const most = Math.max(step, Math.floor((current * maxChange) / step) * step);
  return Math.min(Math.max(wanted, current - most), current + most);
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step;
const clamp = (value: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(Math.max(value, min), max);
