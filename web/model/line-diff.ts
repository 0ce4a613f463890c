/** What became of each line between two texts; unchanged lines far from any change are left out. */
export type DiffLine =
  | { readonly kind: "same" | "removed" | "added"; readonly text: string }
  | { readonly kind: "skipped"; readonly count: number };

const maxLines = 2_000;
const contextLines = 3;

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  return withContext(compare(a, b));
}

const linesOf = (text: string): readonly string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n").slice(0, maxLines);

type Line = Exclude<DiffLine, { kind: "skipped" }>;

/** Along the longest run of lines that both have; what both begin and end with is set aside first. */
function compare(a: readonly string[], b: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (text: string): Line => ({ kind: "same", text });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

function middle(a: readonly string[], b: readonly string[]): readonly Line[] {
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] ?? "" });
      i++;
      j++;
    } else if (
      j >= b.length ||
      (i < a.length && (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    )
      lines.push({ kind: "removed", text: a[i++] ?? "" });
    else lines.push({ kind: "added", text: b[j++] ?? "" });
  }
  return lines;
}

function withContext(lines: readonly Line[]): readonly DiffLine[] {
  const near = new Set<number>();
  for (const [index, { kind }] of lines.entries())
    if (kind !== "same") for (let at = index - contextLines; at <= index + contextLines; at++) near.add(at);
  const shown: DiffLine[] = [];
  let skipped = 0;
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) {
      if (skipped > 0) shown.push({ kind: "skipped", count: skipped });
      skipped = 0;
      shown.push(line);
    } else skipped++;
  }
  if (skipped > 0 && shown.length > 0) shown.push({ kind: "skipped", count: skipped });
  return shown;
}
