/** Rows in a box, for answers with several variables. */
export function formatTable(header: readonly string[] | undefined, rows: readonly (readonly string[])[]): string {
  const lines = header === undefined ? rows : [header, ...rows];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((row) => (row[column] ?? "").length)));
  const line = (left: string, middle: string, right: string): string =>
    `${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}\n`;
  const cells = (row: readonly string[], isCentred: boolean): string =>
    `│${widths.map((width, column) => ` ${place(row[column] ?? "", width, isCentred)} `).join("│")}│\n`;
  return (
    line("┌", "┬", "┐") +
    (header === undefined ? "" : cells(header, true) + line("├", "┼", "┤")) +
    rows.map((row) => cells(row, false)).join("") +
    line("└", "┴", "┘")
  );
}

function place(text: string, width: number, isCentred: boolean): string {
  const missing = width - text.length;
  if (!isCentred) return text + " ".repeat(missing);
  const before = Math.floor(missing / 2);
  return " ".repeat(before) + text + " ".repeat(missing - before);
}
