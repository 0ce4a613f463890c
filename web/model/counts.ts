import { type Tone, toneOf } from "./tone.ts";

/** How many of a list are in which state, the most common first within good, waiting and bad. */
export interface Count {
  readonly word: string;
  readonly tone: Tone;
  readonly count: number;
}

export function countsOf(words: readonly (string | undefined)[]): readonly Count[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word || "pending", (counts.get(word || "pending") ?? 0) + 1);
  return [...counts]
    .map(([word, count]) => ({ word, count, tone: toneOf(word) }))
    .sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone) || b.count - a.count || a.word.localeCompare(b.word));
}

const order: readonly Tone[] = ["bad", "wait", "good", "quiet"];
