/** Whether two simple patterns (literals, `.`, classes, with `*` and `+`) can match the same text. */

interface Piece {
  /** Ranges of code points that the piece matches. */
  readonly ranges: readonly (readonly [number, number])[];
  readonly repeat: "once" | "star" | "plus";
}

const anything: readonly (readonly [number, number])[] = [[0, 0x10ffff]];

/** A message when a pattern is not valid. */
export function globsIntersect(left: string, right: string): boolean | string {
  const first = parse(left);
  if (typeof first === "string") return first;
  const second = parse(right);
  if (typeof second === "string") return second;
  return intersects(expandPlus(first), expandPlus(second));
}

function parse(pattern: string): readonly Piece[] | string {
  const pieces: Piece[] = [];
  const chars = [...pattern];
  for (let index = 0; index < chars.length; ) {
    const char = chars[index] ?? "";
    let ranges: Piece["ranges"];
    if (char === "\\") {
      const escaped = chars[index + 1];
      if (escaped === undefined) return invalid(pattern, index, "input ends with a \\ (escape) character");
      ranges = single(escaped);
      index += 2;
    } else if (char === ".") {
      ranges = anything;
      index++;
    } else if (char === "[") {
      const close = chars.indexOf("]", index + 1);
      if (close === -1) return invalid(pattern, chars.length - 1, "found [ without matching ]");
      const parsed = parseClass(chars.slice(index + 1, close));
      if (parsed === undefined) return invalid(pattern, index, "range is out of order or incomplete");
      ranges = parsed;
      index = close + 1;
    } else if (char === "*" || char === "+") {
      return invalid(pattern, index, `flag '${char}' must be preceded by a non-flag`);
    } else if (char === "]") {
      return invalid(pattern, index, "set-close ']' with no preceding '['");
    } else {
      ranges = single(char);
      index++;
    }
    const next = chars[index];
    const repeat = next === "*" ? "star" : next === "+" ? "plus" : "once";
    if (repeat !== "once") index++;
    pieces.push({ ranges, repeat });
  }
  return pieces;
}

function invalid(pattern: string, index: number, reason: string): string {
  return `input:${pattern}, pos:${index + 1}, ${reason}: the input provided is invalid`;
}

function single(char: string): Piece["ranges"] {
  const code = char.codePointAt(0) ?? 0;
  return [[code, code]];
}

function parseClass(chars: readonly string[]): Piece["ranges"] | undefined {
  const ranges: (readonly [number, number])[] = [];
  for (let index = 0; index < chars.length; ) {
    if (chars[index] === "\\") index++;
    const low = chars[index]?.codePointAt(0);
    if (low === undefined) return undefined;
    if (chars[index + 1] === "-") {
      const high = chars[index + 2]?.codePointAt(0);
      if (high === undefined || high < low) return undefined;
      ranges.push([low, high]);
      index += 3;
    } else {
      ranges.push([low, low]);
      index++;
    }
  }
  return ranges.length === 0 ? undefined : ranges;
}

function expandPlus(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.flatMap((piece): readonly Piece[] =>
    piece.repeat === "plus"
      ? [
          { ...piece, repeat: "once" },
          { ...piece, repeat: "star" },
        ]
      : [piece],
  );
}

/** Searches pairs of positions: is there a text that takes both patterns to their ends? Only empty ones share an empty text. */
function intersects(left: readonly Piece[], right: readonly Piece[]): boolean {
  if (left.length === 0 && right.length === 0) return true;
  const seen = new Set<string>();
  const queue: (readonly [number, number, boolean])[] = [[0, 0, false]];
  const visit = (a: number, b: number, isLong: boolean): void => {
    const key = `${a} ${b} ${isLong}`;
    if (seen.has(key)) return;
    seen.add(key);
    queue.push([a, b, isLong]);
  };
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    const [a, b, isLong] = state;
    if (a === left.length && b === right.length && isLong) return true;
    const leftPiece = left[a];
    const rightPiece = right[b];
    if (leftPiece?.repeat === "star") visit(a + 1, b, isLong);
    if (rightPiece?.repeat === "star") visit(a, b + 1, isLong);
    if (leftPiece === undefined || rightPiece === undefined || !overlap(leftPiece.ranges, rightPiece.ranges)) continue;
    visit(leftPiece.repeat === "star" ? a : a + 1, rightPiece.repeat === "star" ? b : b + 1, true);
  }
  return false;
}

function overlap(left: Piece["ranges"], right: Piece["ranges"]): boolean {
  return left.some(([low, high]) => right.some(([otherLow, otherHigh]) => low <= otherHigh && otherLow <= high));
}
