import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "../kube/object.ts";
import { parseYaml } from "../kube/yaml.ts";
import { Failure } from "./failure.ts";
import { whyUnreadable } from "./unreadable.ts";

/** An object from a file, with where it stood, so that a message can say so. */
export interface ManifestObject {
  readonly object: KubeObject;
  /** `worlds.yaml:14`. */
  readonly source: string;
}

/** Reads manifests as `kubectl -f` does: files, folders with .yaml, .yml and .json files, or `-` for standard input. */
export function readManifests(paths: readonly string[]): readonly ManifestObject[] {
  return paths.flatMap(filesOf).flatMap((file) => readFile(file));
}

function filesOf(path: string): string[] {
  if (path === "-") return ["-"];
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path)
      .filter((name) => /\.(ya?ml|json)$/.test(name))
      .sort()
      .map((name) => join(path, name));
  } catch (error) {
    throw new Failure(`${path} cannot be read: ${whyUnreadable(error)}`);
  }
}

function readFile(file: string): ManifestObject[] {
  const name = file === "-" ? "<stdin>" : file;
  const parsed = parseYaml(readFileSync(file === "-" ? 0 : file, "utf8"), { file: name });
  if (!parsed.ok) throw new Failure(parsed.problems.map(({ message }) => message).join("\n"));
  return parsed.documents.flatMap(({ value, line }) => objectsOf(value, `${name}:${line}`));
}

function objectsOf(value: unknown, source: string): ManifestObject[] {
  const object = value as Partial<KubeObject> & { readonly items?: unknown };
  if (typeof object !== "object" || typeof object?.apiVersion !== "string" || typeof object.kind !== "string") {
    throw new Failure(`${source}: not a Kubernetes object: apiVersion and kind are missing`);
  }
  if (Array.isArray(object.items) && object.kind.endsWith("List"))
    return object.items.flatMap((item) => objectsOf(item, source));
  if (typeof object.metadata?.name !== "string" || object.metadata.name === "") {
    throw new Failure(`${source}: ${object.kind} has no metadata.name`);
  }
  return [{ object: object as KubeObject, source }];
}
