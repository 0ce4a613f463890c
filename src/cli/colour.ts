/** What a whole cell says about how something is. */
const tones: Readonly<Record<string, number>> = Object.fromEntries([
  ...["Bound", "Running", "Newest", "Ready", "Allowed", "Approved", "Succeeded", "available", "completed"].map(green),
  ...["healthy", "ok"].map(green),
  ...["Unresolved", "Error", "Blocked", "Denied", "Rejected", "Failed", "None", "degraded", "failed"].map(red),
  ...["unhealthy", "down", "wrong"].map(red),
  ...["Unresolved (optional)", "Pending", "Held", "Warning", "waiting_approval", "missing", "note"].map(yellow),
]);

function green(word: string): readonly [string, number] {
  return [word, 32];
}

function red(word: string): readonly [string, number] {
  return [word, 31];
}

function yellow(word: string): readonly [string, number] {
  return [word, 33];
}

export interface Terminal {
  readonly isTTY?: boolean;
}

/** Colours the words of state on a terminal that wants colours; anything else gets the text as it is. */
export function inColour(
  text: string,
  terminal: Terminal = process.stdout,
  isUnwanted: boolean = Boolean(process.env["NO_COLOR"]),
): string {
  if (!terminal.isTTY || isUnwanted) return text;
  // A cell stands between two spaces or the ends of its line; in the first line of a story it follows a colon.
  return text.replace(/(?<=^| {2}|^\S+ \S+: )([A-Za-z_]+(?: \([a-z]+\))?)(?= {2}|$)/gm, (word) => {
    const tone = tones[word];
    return tone === undefined ? word : `\u001b[${tone}m${word}\u001b[0m`;
  });
}
