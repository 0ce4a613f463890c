import { type Document, isMap, isNode, isPair, isScalar, isSeq, LineCounter, stringify } from "yaml";
import { composeYaml, type YamlComplaint, yamlMaxProblems } from "./yaml-documents.ts";
import { goYamlTags } from "./yaml-tags.ts";

/**
 * Manifests: one or many YAML documents, read as Go's tools read them (`y`, `on` and `no` are booleans, `1:30` and dates
 * are strings). Every error says in which file, document, line and column it is.
 */
export type ParsedYaml =
  | { readonly ok: true; readonly documents: readonly YamlDocument[] }
  | { readonly ok: false; readonly problems: readonly YamlProblem[] };

export interface YamlDocument {
  /** Counted from 1, empty documents included; comments before the first `---` are none. */
  readonly index: number;
  readonly value: unknown;
  /** Where the document's content begins. */
  readonly line: number;
  /** Keys that are given more than once, when they are allowed: the last one counts. */
  readonly duplicates: readonly YamlDuplicate[];
}

export interface YamlDuplicate {
  readonly path: string;
  readonly key: string;
  readonly line: number;
}

export interface YamlProblem {
  readonly file: string;
  readonly document: number;
  readonly line: number;
  readonly column: number;
  /** `app.yaml: document 2, line 14, column 3: the key "a" is given twice`. */
  readonly message: string;
}

export interface YamlOptions {
  /** What to call the source in messages. */
  readonly file?: string;
  readonly maxBytes?: number;
  /** A person's file should not have them; a server that is asked to ignore them must read on. */
  readonly duplicateKeys?: "refuse" | "report";
  /** What comes after so many is not even looked at. */
  readonly maxDocuments?: number;
}

export const yamlMaxBytes = 16 * 1024 * 1024;
/** Aliases may repeat content, but never blow a small file up into a large one. */
export const yamlMaxAliases = 1000;

/** Empty documents are left out. */
export function parseYaml(text: string, options: YamlOptions = {}): ParsedYaml {
  const file = options.file ?? "<input>";
  const maxBytes = options.maxBytes ?? yamlMaxBytes;
  if (text.length > maxBytes) return { ok: false, problems: [problem(file, 1, 1, 1, `larger than ${maxBytes} bytes`)] };
  const lines = new LineCounter();
  const composed = composeYaml(text, lines, {
    ...dialect,
    uniqueKeys: false,
    ...(options.maxDocuments !== undefined && { maxDocuments: options.maxDocuments }),
  });
  const documents: YamlDocument[] = [];
  const problems: YamlProblem[] = [];
  const tell = (document: number, offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset);
    problems.push(problem(file, document, line, col, message));
  };
  const complain = (document: number, complaints: readonly YamlComplaint[]): void => {
    for (const { pos, code, message } of complaints.slice(0, yamlMaxProblems)) {
      tell(document, pos[0], code === "RESOURCE_EXHAUSTION" ? "nested too deeply" : message);
    }
  };
  for (const [position, node] of composed.documents.entries()) {
    const index = position + 1;
    const at = (offset: number, message: string): void => tell(index, offset, message);
    complain(index, node.errors);
    if (node.errors.length > 0) continue;
    const found = duplicateKeys(node);
    if (options.duplicateKeys !== "report") {
      for (const { key, offset } of found) at(offset, `the key ${JSON.stringify(key)} is given twice`);
    }
    const start = node.contents?.range?.[0] ?? node.range[0];
    const value = toValue(node);
    if (value instanceof Error) at(start, value.message);
    else if (value !== null && value !== undefined) {
      const duplicates = found.map(({ path, key, offset }) => ({ path, key, line: lines.linePos(offset).line }));
      documents.push({ index, value, line: lines.linePos(start).line, duplicates });
    }
  }
  if (composed.stopped) complain(composed.stopped.document, composed.stopped.problems);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, documents };
}

/** The same value always gives the same text, and every YAML reader, 1.1 or 1.2, reads it back alike. */
export function stringifyYaml(value: unknown): string {
  return stringify(value, {
    version: "1.1",
    schema: "yaml-1.1",
    // Both sets of words are quoted: what the 1.1 specification takes for a number, and what Go does.
    customTags: (tags) => [...tags, ...goYamlTags(tags)],
    aliasDuplicateObjects: false,
    lineWidth: 0,
    indentSeq: false,
  });
}

export const stringifyYamlDocuments = (values: readonly unknown[]): string =>
  values.map((value) => `---\n${stringifyYaml(value)}`).join("");

const dialect = {
  version: "1.1",
  schema: "yaml-1.1",
  customTags: goYamlTags,
  merge: true,
  logLevel: "silent",
} as const;

function toValue(node: Document.Parsed): unknown {
  try {
    return jsonValue(node.toJS({ maxAliasCount: yamlMaxAliases, mapAsMap: true }), new Map());
  } catch (error) {
    if (error instanceof RangeError) return new Error("an alias contains itself, or the document is nested too deeply");
    // Thrown for an unknown anchor, for more repetition by aliases than allowed, and for keys that are no text.
    if (error instanceof ReferenceError || error instanceof TypeError) return error;
    throw error;
  }
}

/** JSON knows only text as keys: numbers and booleans become what they print as, which is what Go's tools do too. */
function jsonValue(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  let result: unknown = value;
  if (Array.isArray(value)) result = value.map((item) => jsonValue(item, seen));
  else if (value instanceof Set) result = Object.fromEntries([...value].map((key) => [keyText(key), null]));
  else if (value instanceof Map) {
    result = Object.fromEntries([...value].map(([key, member]) => [keyText(key), jsonValue(member, seen)]));
  }
  seen.set(value, result);
  return result;
}

function keyText(key: unknown): string {
  if (typeof key === "string") return key;
  if (typeof key === "number" || typeof key === "boolean") return String(key);
  throw new TypeError(
    `a key must be a text, a number or a boolean, not ${key === null ? "null" : "a list or an object"}`,
  );
}

interface FoundDuplicate {
  readonly path: string;
  readonly key: string;
  readonly offset: number;
}

function duplicateKeys(document: Document.Parsed): readonly FoundDuplicate[] {
  const found: FoundDuplicate[] = [];
  const visit = (node: unknown, path: string): void => {
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) visit(item, `${path}[${index}]`);
    } else if (isMap(node)) {
      const keys = new Set<string>();
      for (const pair of node.items) {
        if (!isPair(pair) || !isScalar(pair.key)) continue;
        const key = String(pair.key.value);
        const memberPath = path === "" ? key : `${path}.${key}`;
        if (keys.has(key) && key !== "<<") found.push({ path: memberPath, key, offset: offsetOf(pair.key) });
        keys.add(key);
        visit(pair.value, memberPath);
      }
    }
  };
  visit(document.contents, "");
  return found;
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

const problem = (file: string, document: number, line: number, column: number, message: string): YamlProblem => ({
  file,
  document,
  line,
  column,
  message: `${file}: document ${document}, line ${line}, column ${column}: ${message}`,
});
