import { firstPlaces } from "../../kube/json-scan.ts";
import type { DecodedBody } from "./body.ts";

/**
 * What is said about fields that the type does not know or that are given twice: in the order of the document for built-in
 * kinds, repeated ones first for custom resources.
 */
export function fieldComplaints(
  unknown: readonly string[],
  body: Pick<DecodedBody, "duplicates" | "yamlDuplicates" | "text">,
  isCustom: boolean,
  isStrict: boolean,
): readonly string[] {
  // A field that is not known at all is only that, however often it is given.
  const repeated = isCustom ? body.duplicates : body.duplicates.filter((path) => !unknown.includes(path));
  const both = [...repeated.map(duplicateField), ...unknown.map(unknownField)];
  const ordered = isCustom || body.text === undefined ? both : inOrder(body.text, unknown, repeated);
  return [...yamlComplaints(body.yamlDuplicates ?? [], isStrict), ...ordered];
}

export const duplicateField = (path: string): string => `duplicate field ${JSON.stringify(path)}`;
const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`;

/** One error for all of them, but a warning for each. */
export function yamlComplaints(lines: readonly string[], isStrict: boolean): readonly string[] {
  if (lines.length === 0 || !isStrict) return lines;
  return [`yaml: unmarshal errors:\n  ${lines.join("\n  ")}`];
}

function inOrder(text: string, unknown: readonly string[], repeated: readonly string[]): readonly string[] {
  if (unknown.length === 0) return repeated.map(duplicateField);
  if (repeated.length === 0) return unknown.map(unknownField);
  const places = firstPlaces(text, new Set(unknown), new Set(repeated));
  return [
    ...unknown.map((path) => ({ at: places.first.get(path) ?? 0, said: unknownField(path) })),
    ...repeated.map((path) => ({ at: places.second.get(path) ?? 0, said: duplicateField(path) })),
  ]
    .sort((a, b) => a.at - b.at)
    .map(({ said }) => said);
}
