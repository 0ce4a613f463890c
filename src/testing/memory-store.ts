import { matchesFields, parseFieldSelector } from "../kube/field-selector.ts";
import type { KindRef } from "../kube/kind.ts";
import { matchesLabels } from "../kube/label-selector.ts";
import { parseLabelSelector } from "../kube/label-selector-parse.ts";
import type { KubeObject } from "../kube/object.ts";
import { parsedOrThrow } from "../kube/parsed.ts";

/**
 * All versions of all objects of a small Kubernetes API, in memory. Nothing is forgotten, so that tests can look at the
 * past as a lagging replica would; `oldestVersion` says what a server would still know.
 */
export class MemoryStore {
  readonly #logs = new Map<string, Entry[]>();
  readonly #listeners = new Map<string, Set<(entry: Entry) => void>>();
  #version = 1;
  #oldest = 0;

  get version(): number {
    return this.#version;
  }
  /** Watches and continued lists from before this are answered with 410. */
  get oldestVersion(): number {
    return this.#oldest;
  }
  compact(): void {
    this.#oldest = this.#version;
  }

  /** As when a backup is restored: the latest versions have never happened. */
  rollBackTo(version: number): void {
    for (const [resource, log] of this.#logs)
      this.#logs.set(
        resource,
        log.filter((entry) => entry.version <= version),
      );
    this.#version = version;
  }

  nextVersion(): number {
    return ++this.#version;
  }

  append(resource: string, entry: Entry): void {
    const log = this.#logs.get(resource) ?? [];
    this.#logs.set(resource, log);
    log.push(entry);
    for (const listener of [...(this.#listeners.get(resource) ?? [])]) listener(entry);
  }

  /** The objects as they were at a version, by `namespace/name`, sorted as etcd would. */
  state(resource: string, atVersion: number = Number.POSITIVE_INFINITY): ReadonlyMap<string, KubeObject> {
    const objects = new Map<string, KubeObject>();
    for (const entry of this.#logs.get(resource) ?? []) {
      if (entry.version > atVersion) break;
      if (entry.object === undefined) objects.delete(entry.key);
      else objects.set(entry.key, entry.object);
    }
    return new Map([...objects].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  since(resource: string, version: number): readonly Entry[] {
    return (this.#logs.get(resource) ?? []).filter((entry) => entry.version > version);
  }

  listen(resource: string, listener: (entry: Entry) => void): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set();
    this.#listeners.set(resource, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }
}

export interface Entry {
  readonly version: number;
  readonly key: string;
  /** Undefined: deleted. */
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
}

export const resourceOf = (kind: Pick<KindRef, "group" | "plural">): string => `${kind.group}/${kind.plural}`;
export const storeKey = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

export type Matches = (object: KubeObject) => boolean;

/** The filter of a list or watch request; throws on a selector that cannot be parsed. */
export function selection(namespace: string | undefined, query: URLSearchParams): Matches {
  const labels = parsedOrThrow(parseLabelSelector(query.get("labelSelector") ?? ""));
  const fields = parsedOrThrow(parseFieldSelector(query.get("fieldSelector") ?? ""));
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    matchesLabels(labels, object.metadata.labels) &&
    matchesFields(fields, (field) => fieldAt(object, field));
}

function fieldAt(object: unknown, path: string): string | undefined {
  let value: unknown = object;
  for (const part of path.split(".")) {
    value =
      typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[part] : undefined;
  }
  return value === undefined ? undefined : String(value);
}
