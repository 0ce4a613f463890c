/** What players are told before a restart, and when: the texts say the truth whatever the time limit is. */
export interface Announcement {
  /** Before the restart. */
  readonly secondsLeft: number;
  readonly command: string;
}

const marks = [600, 300, 120, 60, 30, 10, 5];

/** From the first to the last; the last is the restart itself. */
export function announcements(graceSeconds: number): readonly Announcement[] {
  const left = [...new Set([graceSeconds, ...marks.filter((mark) => mark < graceSeconds), 0])].sort((a, b) => b - a);
  return left.map((secondsLeft) => ({
    secondsLeft,
    command:
      secondsLeft === 0
        ? "say The server restarts now"
        : `say The server restarts for an update in ${spoken(secondsLeft)}`,
  }));
}

export const farewell: readonly string[] = ["save-all flush", "stop"];

/** How many of them are due, and when the next one is. */
export function dueAnnouncements(
  all: readonly Announcement[],
  elapsedMs: number,
): { readonly count: number; readonly nextMs?: number } {
  const total = all[0]?.secondsLeft ?? 0;
  const atMs = all.map(({ secondsLeft }) => (total - secondsLeft) * 1_000);
  const count = atMs.filter((at) => at <= elapsedMs).length;
  const next = atMs[count];
  return { count, ...(next !== undefined && { nextMs: next - elapsedMs }) };
}

function spoken(seconds: number): string {
  if (seconds < 60 || seconds % 60 !== 0) return `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  const minutes = seconds / 60;
  return `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
}
