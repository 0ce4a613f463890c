import { globSync, readFileSync } from "node:fs";

/** One source file of the product, with what an architecture rule needs to know of it. */
export interface SourceFile {
  readonly path: string;
  /** The first folder under src/, or the file itself for the few that stand beside the rooms. */
  readonly room: string;
  readonly text: string;
  /** Without comments and string contents, so that rules match code and not prose. */
  readonly code: string;
  readonly imports: readonly string[];
  /** Without imports of types alone, which are gone when the program runs. */
  readonly valueImports: readonly string[];
}

export function readSources(): readonly SourceFile[] {
  return globSync("src/**/*.ts")
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/\.(test|machine|d)\.ts$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(path, "utf8");
      return {
        path,
        room: path.split("/")[1] ?? "",
        text,
        code: withoutProse(text),
        imports: importsOf(text),
        valueImports: importsOf(text.replace(typeImport, "")),
      };
    });
}

const typeImport = /(?:^|\n)\s*(?:import|export)\s+type\s[^;]*?from\s+["'][^"']+["'];?/g;

function importsOf(text: string): string[] {
  const found: string[] = [];
  for (const match of text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+["']([^"']+)["']/g))
    found.push(match[1] ?? "");
  for (const match of text.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g)) found.push(match[1] ?? "");
  for (const match of text.matchAll(/(?:^|\n)import\s+["']([^"']+)["']/g)) found.push(match[1] ?? "");
  return found;
}

function withoutProse(text: string): string {
  const prose = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
  return text.replace(prose, (part) => part.replace(/[^\n]/g, " "));
}
