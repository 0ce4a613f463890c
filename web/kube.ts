import type { Feed } from "./live-stream.ts";

/** Kubernetes objects and tables as feeds of the live stream. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp?: string;
  };
}

export function objectsAt<T extends KubeObject>(path: string): Feed<readonly T[]> {
  return {
    path,
    accept: "application/json",
    begin(list) {
      const { metadata, items } = list as { metadata: { resourceVersion: string }; items: readonly T[] };
      return { value: items.toSorted(byName), resourceVersion: metadata.resourceVersion };
    },
    apply(items, type, object) {
      const changed = object as T;
      const others = items.filter(({ metadata }) => metadata.uid !== changed.metadata.uid);
      return type === "DELETED" ? others : [...others, changed].sort(byName);
    },
  };
}

/** What `kubectl get` would print. */
export interface Table {
  readonly columns: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly Row[];
}
export interface Row {
  readonly cells: readonly unknown[];
  readonly object: KubeObject;
}

export function tableAt(path: string): Feed<Table> {
  return {
    path,
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    begin(list) {
      const { metadata, columnDefinitions, rows } = list as WireTable & { metadata: { resourceVersion: string } };
      return {
        value: { columns: columnDefinitions ?? [], rows: sortRows(rows ?? []) },
        resourceVersion: metadata.resourceVersion,
      };
    },
    apply(table, type, object) {
      const [row] = (object as WireTable).rows ?? [];
      if (!row) return table;
      const others = table.rows.filter((other) => other.object.metadata.uid !== row.object.metadata.uid);
      return { ...table, rows: type === "DELETED" ? others : sortRows([...others, row]) };
    },
  };
}

interface WireTable {
  readonly columnDefinitions?: Table["columns"];
  readonly rows?: readonly Row[];
}

const sortRows = (rows: readonly Row[]): readonly Row[] => rows.toSorted((a, b) => byName(a.object, b.object));
const byName = (a: KubeObject, b: KubeObject): number => keyOf(a).localeCompare(keyOf(b));
export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;
