import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A piece of a document that is not prose: what it is, where it stands, and its text. */
export interface CodeBlock {
  /** `yaml`, `ts sleeper.ts`; empty for an indented block. */
  readonly info: string;
  readonly line: number;
  readonly text: string;
}

/** The documents whose commands and manifests are executed. */
export const executedDocuments: readonly string[] = [
  "README.md",
  ...globSync("docs/*.md").sort(),
  ...globSync("docs/guides/*.md").sort(),
  ...globSync("examples/*/README.md").sort(),
];

/** Every document of the project. */
export const allDocuments = (): readonly string[] =>
  globSync("**/*.md", {
    exclude: (name) => ["node_modules", "dist"].includes(String(name)) || String(name).startsWith("."),
  })
    .map((path) => path.replaceAll("\\", "/"))
    .sort();

export function codeBlocks(markdown: string): readonly CodeBlock[] {
  const lines = markdown.split("\n");
  const blocks: CodeBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = /^(`{3,}|~{3,})(.*)$/.exec(lines[at] ?? "");
    if (fence) {
      const start = at + 1;
      while (++at < lines.length && !lines[at]?.startsWith(fence[1] ?? ""));
      blocks.push({ info: fence[2]?.trim() ?? "", line: start + 1, text: lines.slice(start, at).join("\n") });
      continue;
    }
    // Only after an empty line is indented text code; inside a list it continues the item.
    if (!isIndented(lines[at]) || (lines[at - 1] ?? "").trim() !== "" || isInList(lines, at)) continue;
    const start = at;
    while (isIndented(lines[at + 1]) || (lines[at + 1]?.trim() === "" && isIndented(lines[at + 2]))) at++;
    const text = lines.slice(start, at + 1).map((line) => line.slice(4));
    blocks.push({ info: "", line: start + 1, text: text.join("\n") });
  }
  return blocks;
}

const isIndented = (line: string | undefined): boolean => /^ {4}\S/.test(line ?? "") || /^ {5,}\S/.test(line ?? "");

function isInList(lines: readonly string[], at: number): boolean {
  const before = lines.slice(0, at).findLast((line) => line.trim() !== "" && !/^\s/.test(line));
  return /^([-*+]|\d+[.)])\s/.test(before ?? "");
}

/** Links and pictures that point to nothing: `docs/x.md:7: no-such.md`. */
export function brokenLinks(document: string): readonly string[] {
  const prose = withoutCode(readFileSync(document, "utf8"));
  return prose.split("\n").flatMap((line, index) =>
    targetsIn(line)
      .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target) && !leadsSomewhere(document, target))
      .map((target) => `${document}:${index + 1}: ${target}`),
  );
}

/** Links and pictures, as Markdown and as HTML have them. */
const targetsIn = (text: string): readonly string[] =>
  [...text.matchAll(/!?\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)|\b(?:src|srcset)="([^"]+)"/g)].map(
    ([, markdown, html]) => markdown ?? html ?? "",
  );

/** The files that a document shows or leads to. */
export const filesNamedIn = (document: string): readonly string[] =>
  targetsIn(withoutCode(readFileSync(document, "utf8"))).map((target) =>
    join(dirname(document), target.split("#")[0] ?? ""),
  );

function leadsSomewhere(document: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? document : join(dirname(document), decodeURIComponent(path));
  if (!existsSync(file)) return false;
  if (anchor === undefined || !file.endsWith(".md")) return true;
  return headingAnchors(readFileSync(file, "utf8")).includes(anchor);
}

export const headingAnchors = (markdown: string): readonly string[] =>
  [...withoutCode(markdown).matchAll(/^#{1,6}\s+(.*)$/gm)].map((match) =>
    (match[1] ?? "")
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  );

const withoutCode = (markdown: string): string =>
  markdown
    .replace(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ""))
    .replace(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
