import type { TableColumn } from "../resource.ts";
import { child, type Draft, partsOf, text } from "./draft.ts";
import { humanDuration } from "./human-duration.ts";

/** The building blocks of `kubectl get`: each column of a kind is one line. */

type Cell = (object: Draft, now: Date) => unknown;

interface ColumnOptions {
  readonly type?: "string" | "integer" | "boolean" | "date";
  readonly format?: string;
  readonly wide?: boolean;
  readonly description?: string;
}

export function column(name: string, cell: Cell, options: ColumnOptions = {}): TableColumn {
  return {
    name,
    type: options.type ?? "string",
    format: options.format ?? "",
    description: options.description ?? "",
    priority: options.wide ? 1 : 0,
    cell: (object, now) => cell(partsOf(object), now),
  };
}

export const wide = (name: string, cell: Cell, options: ColumnOptions = {}): TableColumn =>
  column(name, cell, { ...options, wide: true });

export const nameColumn: TableColumn = column("Name", (object) => text(child(object, "metadata"), "name"), {
  format: "name",
  description: "The name of the object, unique within its namespace.",
});

export const ageColumn: TableColumn = column(
  "Age",
  (object, now) => ageOf(child(object, "metadata"), "creationTimestamp", now),
  {
    description: "The time since the object was created.",
  },
);

/** For kinds of which kubectl has nothing else to tell. */
export const createdAtColumn: TableColumn = column(
  "Created At",
  (object) => child(object, "metadata")?.["creationTimestamp"] ?? null,
  {
    type: "date",
    description: "When the object was created.",
  },
);

/** How long ago a timestamp is, as kubectl says it. */
export function ageOf(holder: Draft | undefined, field: string, now: Date): string {
  const time = Date.parse(text(holder, field));
  return Number.isNaN(time) ? "<unknown>" : humanDuration(now.getTime() - time);
}
