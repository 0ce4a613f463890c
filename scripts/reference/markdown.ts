// The small part of Markdown that the generated pages need.

export const code = (text: string): string => `\`${text}\``;

/** Columns are padded to equal width, as the formatter wants it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  const [first = [], ...others] = lines;
  return [line(first), line(widths.map((width) => "-".repeat(width))), ...others.map(line)].join("\n");
}

export const page = (parts: readonly string[]): string => `${parts.filter((part) => part !== "").join("\n\n")}\n`;

export const generatedFrom = (source: string): string =>
  `<!-- Generated from ${source} by \`npm run generate:reference\`; change the definitions, not this file. -->`;
