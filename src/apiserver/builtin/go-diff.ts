/** A unified diff of two values in indented JSON, the way the real server explains which field may not change. */
export function jsonDiff(before: unknown, after: unknown): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const from = Math.max(0, start - contextLines);
  const context = {
    before: old.slice(from, start),
    after: old.slice(old.length - end, old.length - end + contextLines),
  };
  const removed = old.slice(start, old.length - end);
  const added = now.slice(start, now.length - end);
  const size = (changed: readonly string[]): number => context.before.length + changed.length + context.after.length;
  const header = `@@ -${from + 1},${size(removed)} +${from + 1},${size(added)} @@`;
  const body = [
    ...context.before.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...context.after.map((line) => ` ${line}`),
  ];
  return `${[header, ...body].join("\n")}\n`;
}

const contextLines = 3;

const linesOf = (value: unknown): readonly string[] => JSON.stringify(value, null, 1).split("\n");
