/** Fields with the same response name must be the same field with the same arguments. */
import type {
  ArgumentNode,
  Definition,
  FieldDefinition,
  FragmentNode,
  Position,
  SelectionNode,
  TypeNode,
  ValueNode,
} from "./ast.ts";
import { namedType, type Schema, typeText } from "./schema.ts";

export interface Conflict {
  readonly message: string;
  readonly position: Position | undefined;
}

interface FoundField {
  readonly selection: SelectionNode;
  readonly parent: Definition;
  readonly definition: FieldDefinition | undefined;
}

/** Comparing fields pairwise is quadratic; more fields than this under one name are not compared. */
const maxFieldsPerName = 1000;

export function mergeConflict(
  selections: readonly SelectionNode[],
  parent: Definition,
  schema: Schema,
  fragments: readonly FragmentNode[],
): Conflict | undefined {
  const byName = new Map<string, FoundField[]>();
  collect(selections, parent, schema, fragments, byName, new Set());
  for (const [name, fields] of byName) {
    const limited = fields.slice(0, maxFieldsPerName);
    for (let index = 1; index < limited.length; index++) {
      const first = limited[0];
      const other = limited[index];
      if (first === undefined || other === undefined) continue;
      const reason = pairConflict(first, other);
      if (reason === undefined) continue;
      return {
        message: `Fields "${name}" conflict because ${reason}. Use different aliases on the fields to fetch both if this was intentional.`,
        position: first.selection.position,
      };
    }
    const nested = limited.flatMap((field) => field.selection.SelectionSet ?? []);
    const type = schema.types.get(namedType(limited[0]?.definition?.Type ?? { NamedType: "", NonNull: false }));
    if (nested.length === 0 || type === undefined) continue;
    const conflict = mergeConflict(nested, type, schema, fragments);
    if (conflict !== undefined) return conflict;
  }
  return undefined;
}

function collect(
  selections: readonly SelectionNode[],
  parent: Definition,
  schema: Schema,
  fragments: readonly FragmentNode[],
  byName: Map<string, FoundField[]>,
  visited: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.Alias !== undefined) {
      const definition = parent.Fields?.find(({ Name }) => Name === selection.Name);
      const key = selection.Alias === "" ? (selection.Name ?? "") : selection.Alias;
      byName.set(key, [...(byName.get(key) ?? []), { selection, parent, definition }]);
    } else if (selection.TypeCondition !== undefined || selection.SelectionSet !== undefined) {
      const type = schema.types.get(selection.TypeCondition ?? "") ?? parent;
      collect(selection.SelectionSet ?? [], type, schema, fragments, byName, visited);
    } else {
      const name = selection.Name ?? "";
      const fragment = fragments.find((candidate) => candidate.Name === name);
      const type = fragment === undefined ? undefined : schema.types.get(fragment.TypeCondition);
      if (fragment === undefined || type === undefined || visited.has(name)) continue;
      visited.add(name);
      collect(fragment.SelectionSet ?? [], type, schema, fragments, byName, visited);
    }
  }
}

function pairConflict(left: FoundField, right: FoundField): string | undefined {
  const areExclusive =
    left.parent.Name !== right.parent.Name && left.parent.Kind === "OBJECT" && right.parent.Kind === "OBJECT";
  if (!areExclusive) {
    if (left.selection.Name !== right.selection.Name) {
      return `"${left.selection.Name}" and "${right.selection.Name}" are different fields`;
    }
    if (argumentsText(left.selection.Arguments) !== argumentsText(right.selection.Arguments)) {
      return "they have differing arguments";
    }
  }
  if (left.definition === undefined || right.definition === undefined) return undefined;
  if (shape(left.definition.Type) !== shape(right.definition.Type) && !areExclusive) {
    return `they return conflicting types "${typeText(left.definition.Type)}" and "${typeText(right.definition.Type)}"`;
  }
  return undefined;
}

function shape(type: TypeNode): string {
  return typeText(type);
}

function argumentsText(args: readonly ArgumentNode[] | undefined): string {
  return (args ?? [])
    .map((argument) => `${argument.Name}:${argument.Value === undefined ? "" : literal(argument.Value)}`)
    .sort()
    .join(",");
}

function literal(value: ValueNode): string {
  const children = (value.Children ?? []).map(
    (child) => `${child.Name}:${child.Value === undefined ? "" : literal(child.Value)}`,
  );
  return `${value.Kind} ${value.Raw} [${children.join(",")}]`;
}
