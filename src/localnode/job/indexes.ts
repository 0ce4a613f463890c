/** Sets of completion indexes in the form of a Job's status: `0-2,4`. */
export function parseIndexes(text: string | undefined): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? "").split(",")) {
    const range = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(part);
    if (range === null) continue;
    const first = Number(range[1]);
    const last = Math.min(Number(range[2] ?? first), first + maxRange);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...indexes].sort((left, right) => left - right);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] ?? 0;
    let last = first;
    while (sorted[at + 1] === last + 1) {
      at++;
      last++;
    }
    at++;
    parts.push(last === first ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`);
  }
  return parts.join(",");
}

/** A Job has at most a hundred thousand completions. */
const maxRange = 100_000;
