import { type Gaps, gapsOf } from "./gaps.ts";

/** Pairs of values that may not be together, all of them in a block. */
export interface Rectangle {
  readonly fromLeft: number;
  readonly toLeft: number;
  readonly fromRight: number;
  readonly toRight: number;
}

type Allowed = readonly (readonly number[])[];

/** Blocks that cover exactly what a table does not allow. Many relations share one table, as the same array. */
export function forbiddenRectangles(allowed: Allowed, rightSize: number): readonly Rectangle[] {
  const known = rectanglesOfTable.get(allowed);
  if (known?.rightSize === rightSize) return known.rectangles;
  const rectangles = findRectangles(allowed, rightSize);
  rectanglesOfTable.set(allowed, { rightSize, rectangles });
  return rectangles;
}

const rectanglesOfTable = new WeakMap<
  Allowed,
  { readonly rightSize: number; readonly rectangles: readonly Rectangle[] }
>();

/** Each gap of each row, made as tall as its neighbours let it be. */
function findRectangles(allowed: Allowed, rightSize: number): readonly Rectangle[] {
  const bands = bandsOf(allowed, rightSize);
  const found: Rectangle[] = [];
  /** By columns: the last band of the latest block there. */
  const coveredTo = new Map<number, number>();
  for (const [index, { gaps }] of bands.entries()) {
    for (const [fromRight, toRight] of gaps) {
      const columns = fromRight * rightSize + toRight;
      if ((coveredTo.get(columns) ?? -1) >= index) continue;
      let first = index;
      while (first > 0 && hasGap(bands[first - 1], fromRight, toRight)) first--;
      let last = index;
      while (last < bands.length - 1 && hasGap(bands[last + 1], fromRight, toRight)) last++;
      coveredTo.set(columns, last);
      found.push({ fromLeft: bands[first]?.from ?? 0, toLeft: bands[last]?.to ?? 0, fromRight, toRight });
    }
  }
  return found;
}

/** Rows that follow each other and allow the same. */
interface Band {
  readonly from: number;
  to: number;
  readonly row: readonly number[];
  readonly gaps: Gaps;
}

function bandsOf(allowed: Allowed, rightSize: number): readonly Band[] {
  const bands: Band[] = [];
  for (const [index, row] of allowed.entries()) {
    const last = bands.at(-1);
    if (last && isSame(last.row, row)) last.to = index;
    else bands.push({ from: index, to: index, row, gaps: gapsOf(row, rightSize) });
  }
  return bands;
}

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a === b || (a.length === b.length && a.every((value, index) => value === b[index]));

/** Whether one of the band's gaps holds all of these columns. */
function hasGap(band: Band | undefined, from: number, to: number): boolean {
  const gaps = band?.gaps ?? [];
  let [low, high] = [0, gaps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((gaps[middle]?.[0] ?? 0) <= from) low = middle + 1;
    else high = middle;
  }
  return (gaps[low - 1]?.[1] ?? -1) >= to;
}
