/** Something that was started and must be stopped. */
export interface StoppablePart {
  stop(): Promise<void>;
}

/** The last to come is the first to go: nothing loses what it stands on. */
export async function stopAll(parts: readonly StoppablePart[]): Promise<void> {
  for (const part of parts.toReversed()) await part.stop();
}
