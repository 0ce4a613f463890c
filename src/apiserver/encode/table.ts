import type { KubeObject, ListMeta } from "../../kube/object.ts";
import type { ServedResource } from "../resource.ts";
import { partialObjectMetadata } from "./partial-metadata.ts";

export interface TableOptions {
  readonly metadata: ListMeta;
  readonly now: Date;
  /** `None`, `Metadata` (the default) or `Object`. */
  readonly includeObject: string | null;
  /** The columns are left out after the first event of a watch. */
  readonly withoutColumns?: boolean;
}

/** What `kubectl get` prints: columns, and one row for each object. */
export function tableOf(
  resource: Pick<ServedResource, "columns">,
  version: "v1" | "v1beta1",
  objects: readonly KubeObject[],
  options: TableOptions,
): object {
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata: options.metadata,
    columnDefinitions: options.withoutColumns
      ? null
      : resource.columns.map(({ name, type, format, description, priority }) => ({
          name,
          type,
          format: format ?? "",
          description,
          priority,
        })),
    rows: objects.map((object) => ({
      cells: resource.columns.map((column) => column.cell(object, options.now) ?? null),
      ...rowObject(version, object, options.includeObject),
    })),
  };
}

function rowObject(version: "v1" | "v1beta1", object: KubeObject, include: string | null): object {
  if (include === "None") return { object: null };
  if (include === "Object") return { object };
  return { object: partialObjectMetadata(version, object) };
}
