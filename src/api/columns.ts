/** Printer columns that more than one kind has. */
import type { PrinterColumn } from "../kube/kind.ts";

export const age: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The status of one condition: True, False or Unknown. */
export const conditionColumn = (name: string, conditionType: string): PrinterColumn => ({
  name,
  type: "string",
  jsonPath: `.status.conditions[?(@.type=="${conditionType}")].status`,
});
