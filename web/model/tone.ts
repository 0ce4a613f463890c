/** Whether a word about a state is good news, bad news, or something to wait for. */
export type Tone = "good" | "bad" | "wait" | "quiet";

const words: Readonly<Record<Exclude<Tone, "quiet">, readonly string[]>> = {
  good: [
    "running",
    "bound",
    "resolved",
    "available",
    "completed",
    "rollback_ready",
    "healthy",
    "valid",
    "ready",
    "active",
    "approved",
    "true",
    "reconcilesuccess",
    "chosen",
    "passed",
  ],
  bad: [
    "error",
    "degraded",
    "failed",
    "down",
    "unhealthy",
    "timed_out",
    "rejected",
    "blocked",
    "incompatible",
    "warning",
    "reconcileerror",
    "missing",
    "unresolved",
  ],
  wait: [
    "pending",
    "provisioning",
    "applying",
    "progressing",
    "deleting",
    "validating",
    "validated",
    "waiting_approval",
    "executing",
    "waiting",
    "unavailable",
    "orphaned",
    "rolled_back",
    "unknown",
  ],
};

export function toneOf(word: string | undefined): Tone {
  const known = (word ?? "pending").toLowerCase();
  for (const [tone, list] of Object.entries(words)) if (list.includes(known)) return tone as Tone;
  return "quiet";
}

/** `waiting_approval` as people say it. */
export const inWords = (word: string): string => {
  const spaced = word.replaceAll("_", " ");
  return /^[A-Z]+$|^[A-Z][a-z]+$/.test(spaced) ? spaced.toLowerCase() : spaced;
};
