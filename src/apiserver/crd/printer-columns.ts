import { findAll, type JsonPath, parseJsonPath, printValue } from "../../kube/json-path.ts";
import type { KubeObject } from "../../kube/object.ts";
import { nameColumn } from "../builtin/columns.ts";
import { humanDuration } from "../builtin/human-duration.ts";
import type { TableColumn } from "../resource.ts";
import type { DefinitionVersion } from "./definition.ts";

/** What `kubectl get` shows of a custom resource: the name, then the columns of its definition, or its age. */
export function printerColumns({ additionalPrinterColumns }: DefinitionVersion): readonly TableColumn[] {
  const columns = additionalPrinterColumns ?? [
    {
      name: "Age",
      type: "date" as const,
      jsonPath: ".metadata.creationTimestamp",
      description: creationTimestampDescription,
    },
  ];
  return [
    nameColumn,
    ...columns.map(({ name, type, format, description, priority, jsonPath }): TableColumn => {
      const path = parseJsonPath(jsonPath);
      return {
        name,
        type,
        format: format ?? "",
        description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
        priority: priority ?? 0,
        cell: (object, now) => (path.ok ? cellOf(path.value, type, object, now) : null),
      };
    }),
  ];
}

function cellOf(path: JsonPath, type: string, object: KubeObject, now: Date): unknown {
  const found = findAll(path, object);
  if (!found.ok || found.value.length === 0) return null;
  const [value] = found.value;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return found.value.map(printValue).join(" ");
  }
}

function ageOf(value: string, now: Date): string {
  const at = Date.parse(value);
  return Number.isNaN(at) ? "<invalid>" : humanDuration(now.getTime() - at);
}

const creationTimestampDescription =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
