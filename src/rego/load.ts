/** Sorts files into policies and data. */
import { unmarshalYaml, YamlFault } from "./builtins/yaml.ts";
import type { ModuleSource } from "./prepare.ts";
import { noLocation } from "./syntax/ast.ts";
import { RegoErrors } from "./syntax/errors.ts";
import { parseJson } from "./values/json.ts";
import { RegoObject, type Value } from "./values/value.ts";

export interface PolicyFile {
  /** As it is shown in messages. */
  readonly path: string;
  readonly content: string;
  /** For data: where below `data` the document goes; the folders between the loaded folder and the file. */
  readonly dataPath?: readonly string[];
}

export interface Loaded {
  readonly modules: readonly ModuleSource[];
  readonly data: RegoObject;
}

/** Throws `RegoErrors` for data that is not valid or that two files define. */
export function loadFiles(files: readonly PolicyFile[]): Loaded {
  const modules: ModuleSource[] = [];
  let data = new RegoObject();
  for (const file of files) {
    if (file.path.endsWith(".rego")) {
      modules.push({ file: file.path, source: file.content });
      continue;
    }
    if (!/\.(json|ya?ml)$/.test(file.path)) continue;
    const document = parseData(file);
    const placed = [...(file.dataPath ?? [])]
      .reverse()
      .reduce<Value>((value, name) => RegoObject.fromEntries([[name, value]]), document);
    if (!(placed instanceof RegoObject)) throw refuse(file, "document must be of type object");
    data = merge(data, placed, file);
  }
  return { modules, data };
}

function parseData(file: PolicyFile): Value {
  if (file.path.endsWith(".json")) {
    const parsed = parseJson(file.content);
    if (parsed.ok) return parsed.value;
    throw refuse(file, parsed.message);
  }
  try {
    return unmarshalYaml(file.content);
  } catch (error) {
    if (error instanceof YamlFault) throw refuse(file, error.message);
    throw error;
  }
}

function merge(left: RegoObject, right: RegoObject, file: PolicyFile): RegoObject {
  const merged = left.copy();
  for (const [key, value] of right.entries()) {
    const known = left.get(key);
    if (known === undefined) merged.set(key, value);
    else if (known instanceof RegoObject && value instanceof RegoObject) merged.set(key, merge(known, value, file));
    else throw refuse(file, `merge error: ${String(key)} is defined twice`);
  }
  return merged;
}

function refuse(file: PolicyFile, message: string): RegoErrors {
  const location = { ...noLocation, file: file.path };
  return new RegoErrors([{ code: "rego_parse_error", message, location }]);
}
