import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseDocument } from "yaml";
import { isRecord } from "./answers.ts";
import { ConfigEntry, KubeconfigError } from "./config-entry.ts";

/**
 * kubeconfig files, read and merged as kubectl does: of two entries with the same name the first file's wins, as does
 * the first current-context; paths inside a file start at that file's folder.
 */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, ConfigEntry>;
  readonly clusters: ReadonlyMap<string, ConfigEntry>;
  readonly users: ReadonlyMap<string, ConfigEntry>;
  /** The files that were there. */
  readonly files: readonly string[];
}

/** Files that do not exist are passed over, as long as one does. */
export async function loadKubeconfig(paths: readonly string[]): Promise<Kubeconfig> {
  const wanted = [...new Set(paths.filter((path) => path !== ""))];
  if (wanted.length === 0) throw new KubeconfigError("kubeconfig", "", "no file was named");
  const read = await Promise.all(wanted.map(readIfThere));
  const found = read.filter((config) => config !== undefined);
  if (found.length === 0) throw new KubeconfigError(wanted.join(", "), "", "no such file");
  return mergeKubeconfigs(found);
}

async function readIfThere(path: string): Promise<Kubeconfig | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new KubeconfigError(path, "", error instanceof Error ? error.message : String(error), error);
  }
  return parseKubeconfig(text, path);
}

export function parseKubeconfig(text: string, file: string): Kubeconfig {
  const root = new ConfigEntry(file, dirname(file), "", parseYaml(text, file));
  const kind = root.text("kind");
  if (kind !== undefined && kind !== "Config") throw root.error("kind", `must be Config, not ${JSON.stringify(kind)}`);
  return {
    currentContext: root.text("current-context"),
    contexts: namedEntries(root, "contexts", "context"),
    clusters: namedEntries(root, "clusters", "cluster"),
    users: namedEntries(root, "users", "user"),
    files: [file],
  };
}

/** The parser's message would show the lines around the mistake, and a token may stand there; only the place is told. */
function parseYaml(text: string, file: string): Record<string, unknown> {
  const document = parseDocument(text, { prettyErrors: true, logLevel: "silent" });
  const mistake = document.errors[0];
  if (mistake) {
    const place = mistake.linePos?.[0];
    const where = place ? ` at line ${place.line}, column ${place.col}` : "";
    throw new KubeconfigError(file, "", `not YAML (${mistake.code})${where}`);
  }
  const value: unknown = document.toJS() ?? {};
  if (!isRecord(value)) throw new KubeconfigError(file, "", "must be a mapping with clusters, users and contexts");
  return value;
}

function namedEntries(root: ConfigEntry, list: string, body: string): ReadonlyMap<string, ConfigEntry> {
  const entries = new Map<string, ConfigEntry>();
  for (const [index, item] of root.list(list).entries()) {
    const outer = new ConfigEntry(root.file, root.folder, `${list}[${index}]`, item);
    const name = outer.text("name");
    if (name === undefined) throw outer.error("name", "Required value");
    const path = `${list}[${JSON.stringify(name)}]`;
    if (entries.has(name)) throw root.error(path, "Duplicate value");
    const inner = isRecord(item) ? (item[body] ?? {}) : {};
    entries.set(name, new ConfigEntry(root.file, root.folder, `${path}.${body}`, inner));
  }
  return entries;
}

export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (pick: (config: Kubeconfig) => ReadonlyMap<string, ConfigEntry>): ReadonlyMap<string, ConfigEntry> =>
    new Map(configs.toReversed().flatMap((config) => [...pick(config)]));
  return {
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: merged(({ contexts }) => contexts),
    clusters: merged(({ clusters }) => clusters),
    users: merged(({ users }) => users),
    files: configs.flatMap(({ files }) => files),
  };
}
