/** Checks of a query against a schema; the first objection is the answer. */
import type {
  ArgumentDefinition,
  ArgumentNode,
  Definition,
  DirectiveNode,
  FieldDefinition,
  FragmentNode,
  OperationNode,
  QueryDocument,
  SelectionNode,
  TypeNode,
  ValueNode,
  VariableNode,
} from "./ast.ts";
import { GraphqlFault, type Position } from "./ast.ts";
import { isInputKind, namedType, type Schema, typeText } from "./schema.ts";
import { mergeConflict } from "./validate-merge.ts";
import { valueObjection } from "./validate-value.ts";

/** Throws `GraphqlFault`. */
export function validateQuery(schema: Schema, document: QueryDocument): void {
  new QueryValidator(schema, document).run();
}

interface Scope {
  readonly variables: readonly VariableNode[];
  readonly used: Set<string>;
  readonly operation: OperationNode | undefined;
}

export const typenameField: FieldDefinition = {
  Name: "__typename",
  Description: "",
  Type: { NamedType: "String", NonNull: true },
};

class QueryValidator {
  readonly #schema: Schema;
  readonly #operations: readonly OperationNode[];
  readonly #fragments: readonly FragmentNode[];

  constructor(schema: Schema, document: QueryDocument) {
    this.#schema = schema;
    this.#operations = document.Operations ?? [];
    this.#fragments = document.Fragments ?? [];
  }

  run(): void {
    this.#checkNames();
    for (const operation of this.#operations) this.#operation(operation);
    for (const fragment of this.#fragments) this.#fragment(fragment);
    this.#checkUnusedFragments();
  }

  #checkNames(): void {
    if (this.#operations.length > 1) {
      const anonymous = this.#operations.find((operation) => operation.Name === "");
      if (anonymous !== undefined)
        throw fault("This anonymous operation must be the only defined operation.", anonymous.position);
    }
    unique(
      this.#operations.filter(({ Name }) => Name !== ""),
      ({ Name }) => `There can be only one operation named "${Name}".`,
    );
    unique(this.#fragments, ({ Name }) => `There can be only one fragment named "${Name}".`);
  }

  #operation(operation: OperationNode): void {
    const root = {
      query: this.#schema.query,
      mutation: this.#schema.mutation,
      subscription: this.#schema.subscription,
    }[operation.Operation];
    if (root === undefined) {
      throw fault(`Schema does not support operation type "${operation.Operation}"`, operation.position);
    }
    const variables = operation.VariableDefinitions ?? [];
    this.#variables(variables);
    const scope: Scope = { variables, used: new Set(), operation };
    this.#directives(operation.Directives, operation.Operation.toUpperCase(), scope);
    this.#selections(operation.SelectionSet, root, scope, new Set());
    const conflict = mergeConflict(operation.SelectionSet ?? [], root, this.#schema, this.#fragments);
    if (conflict !== undefined) throw fault(conflict.message, conflict.position);
    if (operation.Operation === "subscription") this.#singleSubscription(operation);
    const unused = variables.find((variable) => !scope.used.has(variable.Variable));
    if (unused === undefined) return;
    const where = operation.Name === "" ? "" : ` in operation "${operation.Name}"`;
    throw fault(`Variable "$${unused.Variable}" is never used${where}.`, unused.position);
  }

  #singleSubscription(operation: OperationNode): void {
    const selections = operation.SelectionSet ?? [];
    if (selections.length <= 1) return;
    const subject = operation.Name === "" ? "Anonymous Subscription" : `Subscription "${operation.Name}"`;
    throw fault(`${subject} must select only one top level field.`, selections[1]?.position);
  }

  #variables(variables: readonly VariableNode[]): void {
    unique(
      variables.map((variable) => ({ ...variable, Name: variable.Variable })),
      ({ Name }) => `There can be only one variable named "$${Name}".`,
    );
    for (const variable of variables) {
      const name = namedType(variable.Type);
      const type = this.#schema.types.get(name);
      if (type === undefined) throw fault(`Unknown type "${name}".`, variable.position);
      if (!isInputKind(type.Kind)) {
        throw fault(
          `Variable "$${variable.Variable}" cannot be non-input type "${typeText(variable.Type)}".`,
          variable.position,
        );
      }
      if (variable.DefaultValue !== undefined) this.#value(variable.DefaultValue, variable.Type, undefined);
    }
  }

  #fragment(fragment: FragmentNode): void {
    const type = this.#composite(fragment.TypeCondition, fragment.position, `Fragment "${fragment.Name}"`);
    this.#directives(fragment.Directives, "FRAGMENT_DEFINITION", undefined);
    this.#selections(fragment.SelectionSet, type, undefined, new Set([fragment.Name]));
  }

  #composite(name: string, position: Position | undefined, subject: string): Definition {
    const type = this.#schema.types.get(name);
    if (type === undefined) throw fault(`Unknown type "${name}".`, position);
    if (!/^(OBJECT|INTERFACE|UNION)$/.test(type.Kind)) {
      throw fault(`${subject} cannot condition on non composite type "${name}".`, position);
    }
    return type;
  }

  #selections(
    selections: readonly SelectionNode[] | undefined,
    parent: Definition,
    scope: Scope | undefined,
    path: ReadonlySet<string>,
  ): void {
    for (const selection of selections ?? []) {
      if (selection.Alias !== undefined) this.#field(selection, parent, scope, path);
      else if (selection.TypeCondition !== undefined || selection.SelectionSet !== undefined) {
        this.#inlineFragment(selection, parent, scope, path);
      } else this.#spread(selection, parent, scope, path);
    }
  }

  #field(field: SelectionNode, parent: Definition, scope: Scope | undefined, path: ReadonlySet<string>): void {
    const name = field.Name ?? "";
    const definition =
      name === "__typename" ? typenameField : parent.Fields?.find((candidate) => candidate.Name === name);
    if (definition === undefined) {
      throw fault(`Cannot query field "${name}" on type "${parent.Name}".`, field.position);
    }
    this.#arguments(field.Arguments, definition.Arguments, scope, {
      unknown: (argument) => `Unknown argument "${argument}" on field "${parent.Name}.${name}".`,
      missing: (argument) =>
        `Field "${name}" argument "${argument.Name}" of type "${typeText(argument.Type)}" is required, but it was not provided.`,
      position: field.position,
    });
    this.#directives(field.Directives, "FIELD", scope);
    const type = this.#schema.types.get(namedType(definition.Type));
    if (type === undefined) return;
    const isLeaf = type.Kind === "SCALAR" || type.Kind === "ENUM";
    const hasSelections = (field.SelectionSet ?? []).length > 0;
    if (isLeaf && hasSelections) {
      throw fault(
        `Field "${name}" must not have a selection since type "${typeText(definition.Type)}" has no subfields.`,
        field.position,
      );
    }
    if (!isLeaf && !hasSelections) {
      throw fault(
        `Field "${name}" of type "${typeText(definition.Type)}" must have a selection of subfields. Did you mean "${name} { ... }"?`,
        field.position,
      );
    }
    this.#selections(field.SelectionSet, type, scope, path);
  }

  #inlineFragment(
    selection: SelectionNode,
    parent: Definition,
    scope: Scope | undefined,
    path: ReadonlySet<string>,
  ): void {
    const condition = selection.TypeCondition ?? "";
    const type = condition === "" ? parent : this.#composite(condition, selection.position, "Fragment");
    this.#directives(selection.Directives, "INLINE_FRAGMENT", scope);
    if (!this.#overlap(parent, type)) {
      throw fault(
        `Fragment cannot be spread here as objects of type "${parent.Name}" can never be of type "${type.Name}".`,
        selection.position,
      );
    }
    this.#selections(selection.SelectionSet, type, scope, path);
  }

  #spread(selection: SelectionNode, parent: Definition, scope: Scope | undefined, path: ReadonlySet<string>): void {
    const name = selection.Name ?? "";
    const fragment = this.#fragments.find((candidate) => candidate.Name === name);
    if (fragment === undefined) throw fault(`Unknown fragment "${name}".`, selection.position);
    this.#directives(selection.Directives, "FRAGMENT_SPREAD", scope);
    if (path.has(name)) {
      const via = [...path].filter((other) => other !== name);
      const shown = via.length === 0 ? "" : ` via ${via.map((other) => `"${other}"`).join(", ")}`;
      throw fault(`Cannot spread fragment "${name}" within itself${shown}.`, selection.position);
    }
    const type = this.#schema.types.get(fragment.TypeCondition);
    if (type === undefined) return;
    if (!this.#overlap(parent, type)) {
      throw fault(
        `Fragment "${name}" cannot be spread here as objects of type "${parent.Name}" can never be of type "${type.Name}".`,
        selection.position,
      );
    }
    this.#selections(fragment.SelectionSet, type, scope, new Set([...path, name]));
  }

  #overlap(left: Definition, right: Definition): boolean {
    if (left.Name === right.Name) return true;
    const rightNames = new Set(this.#concrete(right).map(({ Name }) => Name));
    return this.#concrete(left).some(({ Name }) => rightNames.has(Name));
  }

  #concrete(type: Definition): readonly Definition[] {
    return this.#schema.possibleTypes.get(type.Name) ?? [];
  }

  #arguments(
    given: readonly ArgumentNode[] | undefined,
    known: readonly ArgumentDefinition[] | undefined,
    scope: Scope | undefined,
    messages: {
      readonly unknown: (name: string) => string;
      readonly missing: (argument: ArgumentDefinition) => string;
      readonly position: Position | undefined;
    },
  ): void {
    unique(given ?? [], ({ Name }) => `There can be only one argument named "${Name}".`);
    for (const argument of given ?? []) {
      const definition = known?.find((candidate) => candidate.Name === argument.Name);
      if (definition === undefined) throw fault(messages.unknown(argument.Name), argument.position);
      if (argument.Value !== undefined) this.#value(argument.Value, definition.Type, scope, definition);
    }
    for (const definition of known ?? []) {
      if (!definition.Type.NonNull || definition.DefaultValue !== undefined) continue;
      if (given?.some((argument) => argument.Name === definition.Name)) continue;
      throw fault(messages.missing(definition), messages.position);
    }
  }

  #directives(directives: readonly DirectiveNode[] | undefined, location: string, scope: Scope | undefined): void {
    const seen = new Set<string>();
    for (const directive of directives ?? []) {
      const definition = this.#schema.directives.get(directive.Name);
      if (definition === undefined) throw fault(`Unknown directive "@${directive.Name}".`, directive.position);
      if (!definition.Locations?.includes(location)) {
        throw fault(`Directive "@${directive.Name}" may not be used on ${location}.`, directive.position);
      }
      if (seen.has(directive.Name) && !definition.IsRepeatable) {
        throw fault(`The directive "@${directive.Name}" can only be used once at this location.`, directive.position);
      }
      seen.add(directive.Name);
      this.#arguments(directive.Arguments, definition.Arguments, scope, {
        unknown: (argument) => `Unknown argument "${argument}" on directive "@${directive.Name}".`,
        missing: (argument) =>
          `Directive "@${directive.Name}" argument "${argument.Name}" of type "${typeText(argument.Type)}" is required, but it was not provided.`,
        position: directive.position,
      });
    }
  }

  #value(value: ValueNode, type: TypeNode, scope: Scope | undefined, argument?: ArgumentDefinition): void {
    const objection = valueObjection(value, type, this.#schema);
    if (objection !== undefined) throw fault(objection.message, objection.position);
    this.#variableUses(value, type, scope, argument?.DefaultValue !== undefined);
  }

  #variableUses(value: ValueNode, type: TypeNode, scope: Scope | undefined, hasDefault: boolean): void {
    if (value.Kind === 0) {
      if (scope === undefined) return;
      const variable = scope.variables.find((candidate) => candidate.Variable === value.Raw);
      if (variable === undefined) {
        const name = scope.operation?.Name ?? "";
        const where = name === "" ? "" : ` by operation "${name}"`;
        throw fault(`Variable "$${value.Raw}" is not defined${where}.`, value.position);
      }
      scope.used.add(value.Raw);
      if (!isAllowed(variable, type, hasDefault)) {
        throw fault(
          `Variable "$${value.Raw}" of type "${typeText(variable.Type)}" used in position expecting type "${typeText(type)}".`,
          value.position,
        );
      }
      return;
    }
    const definition = this.#schema.types.get(namedType(type));
    for (const child of value.Children ?? []) {
      if (child.Value === undefined) continue;
      if (value.Kind === 8) this.#variableUses(child.Value, type.Elem ?? type, scope, false);
      else {
        const field = definition?.Fields?.find((candidate) => candidate.Name === child.Name);
        if (field !== undefined) this.#variableUses(child.Value, field.Type, scope, field.DefaultValue !== undefined);
      }
    }
  }

  #checkUnusedFragments(): void {
    const used = new Set<string>();
    const visit = (selections: readonly SelectionNode[] | undefined): void => {
      for (const selection of selections ?? []) {
        if (selection.Alias === undefined && selection.Name !== undefined && !used.has(selection.Name)) {
          used.add(selection.Name);
          visit(this.#fragments.find(({ Name }) => Name === selection.Name)?.SelectionSet);
        }
        visit(selection.SelectionSet);
      }
    };
    for (const operation of this.#operations) visit(operation.SelectionSet);
    const unused = this.#fragments.find(({ Name }) => !used.has(Name));
    if (unused !== undefined) throw fault(`Fragment "${unused.Name}" is never used.`, unused.position);
  }
}

/** A nullable variable may stand where a value is required if one of them has a default. */
function isAllowed(variable: VariableNode, type: TypeNode, hasDefault: boolean): boolean {
  const hasVariableDefault = variable.DefaultValue !== undefined && variable.DefaultValue.Kind !== 6;
  if (type.NonNull && !variable.Type.NonNull) {
    if (!hasVariableDefault && !hasDefault) return false;
    return isSubtype(variable.Type, { ...type, NonNull: false });
  }
  return isSubtype(variable.Type, type);
}

function isSubtype(actual: TypeNode, wanted: TypeNode): boolean {
  if (wanted.NonNull && !actual.NonNull) return false;
  if (wanted.NamedType !== "") return wanted.NamedType === actual.NamedType;
  if (wanted.Elem === undefined || actual.Elem === undefined) return false;
  return isSubtype(actual.Elem, wanted.Elem);
}

function fault(message: string, position: Position | undefined): GraphqlFault {
  return new GraphqlFault(position === undefined ? message : message.replace(/\.$/, ""), position);
}

function unique<T extends { readonly Name: string; readonly position?: Position }>(
  items: readonly T[],
  message: (item: T) => string,
): void {
  const seen = new Set<string>();
  for (const item of items) {
    if (seen.has(item.Name)) throw fault(message(item), item.position);
    seen.add(item.Name);
  }
}
