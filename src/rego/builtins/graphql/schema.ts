/** From a schema document to a schema that queries can be checked against; refuses what GraphQL forbids. */
import type {
  ArgumentDefinition,
  Definition,
  DirectiveDefinition,
  DirectiveNode,
  FieldDefinition,
  Position,
  SchemaDocument,
  TypeNode,
} from "./ast.ts";
import { GraphqlFault } from "./ast.ts";
import { parseSchemaDocument } from "./parser.ts";
import { prelude } from "./prelude.ts";

export interface Schema {
  readonly types: ReadonlyMap<string, Definition>;
  readonly directives: ReadonlyMap<string, DirectiveDefinition>;
  readonly possibleTypes: ReadonlyMap<string, readonly Definition[]>;
  readonly query: Definition | undefined;
  readonly mutation: Definition | undefined;
  readonly subscription: Definition | undefined;
}

/** Throws `GraphqlFault`. */
export function buildSchema(document: SchemaDocument): Schema {
  return new SchemaBuilder(document).build();
}

export function typeText(type: TypeNode): string {
  const text = type.NamedType !== "" || type.Elem === undefined ? type.NamedType : `[${typeText(type.Elem)}]`;
  return type.NonNull ? `${text}!` : text;
}

export function namedType(type: TypeNode): string {
  return type.NamedType !== "" || type.Elem === undefined ? type.NamedType : namedType(type.Elem);
}

export function isInputKind(kind: string): boolean {
  return kind === "SCALAR" || kind === "ENUM" || kind === "INPUT_OBJECT";
}

const conversion = "Error in gqlparser SchemaDocument to Schema conversion: ";

function refuse(position: Position | undefined, message: string): GraphqlFault {
  const fault = new GraphqlFault(message, undefined);
  const where = position === undefined ? "input: " : `input:${position.line}:${position.column}: `;
  fault.message = `${conversion}${where}${message}`;
  return fault;
}

class SchemaBuilder {
  readonly #document: SchemaDocument;
  readonly #types = new Map<string, Definition>();
  readonly #directives = new Map<string, DirectiveDefinition>();
  readonly #possible = new Map<string, Definition[]>();
  readonly #roots: { [operation: string]: Definition } = {};

  constructor(document: SchemaDocument) {
    this.#document = document;
  }

  build(): Schema {
    const base = parseSchemaDocument(prelude, true);
    const list = <T>(name: "Definitions" | "Directives" | "Extensions"): T[] =>
      structuredClone([...(base[name] ?? []), ...(this.#document[name] ?? [])]) as T[];
    for (const definition of list<Definition>("Definitions")) {
      if (this.#types.has(definition.Name)) {
        throw refuse(definition.position, `Cannot redeclare type ${definition.Name}.`);
      }
      this.#types.set(definition.Name, definition);
    }
    for (const extension of list<Definition>("Extensions")) this.#extend(extension);
    for (const definition of this.#types.values()) this.#addPossible(definition);
    for (const directive of list<DirectiveDefinition>("Directives")) {
      const isBuiltIn = /^(include|skip|deprecated|specifiedBy|defer|oneOf)$/.test(directive.Name);
      if (this.#directives.has(directive.Name) && !isBuiltIn) {
        throw refuse(directive.position, `Cannot redeclare directive ${directive.Name}.`);
      }
      this.#directives.set(directive.Name, directive);
    }
    this.#entryPoints();
    for (const name of [...this.#types.keys()].sort()) {
      const definition = this.#types.get(name);
      if (definition !== undefined) this.#check(definition);
    }
    this.#checkInputCycles();
    for (const name of [...this.#directives.keys()].sort()) {
      const directive = this.#directives.get(name);
      if (directive === undefined) continue;
      checkName(directive.position, directive.Name);
      this.#checkArguments(directive.Arguments, directive);
    }
    return this.#finish();
  }

  #extend(extension: Definition): void {
    let definition = this.#types.get(extension.Name);
    if (definition === undefined) {
      definition = {
        Kind: extension.Kind,
        Name: extension.Name,
        Description: "",
        BuiltIn: false,
        ...(extension.position && { position: extension.position }),
      };
      this.#types.set(extension.Name, definition);
    }
    if (definition.Kind !== extension.Kind) {
      throw refuse(
        extension.position,
        `Cannot extend type ${extension.Name} because the base type is a ${definition.Kind}, not ${extension.Kind}.`,
      );
    }
    definition.Directives = [...(definition.Directives ?? []), ...(extension.Directives ?? [])];
    definition.Interfaces = [...(definition.Interfaces ?? []), ...(extension.Interfaces ?? [])];
    definition.Fields = [...(definition.Fields ?? []), ...(extension.Fields ?? [])];
    definition.Types = [...(definition.Types ?? []), ...(extension.Types ?? [])];
    definition.EnumValues = [...(definition.EnumValues ?? []), ...(extension.EnumValues ?? [])];
  }

  #addPossible(definition: Definition): void {
    const add = (name: string, member: Definition | undefined): void => {
      if (member !== undefined) this.#possible.set(name, [...(this.#possible.get(name) ?? []), member]);
    };
    if (definition.Kind === "UNION") {
      for (const name of definition.Types ?? []) add(definition.Name, this.#types.get(name));
    } else if (/^(OBJECT|INPUT_OBJECT|INTERFACE)$/.test(definition.Kind)) {
      for (const name of definition.Interfaces ?? []) add(name, definition);
      if (definition.Kind !== "INTERFACE") add(definition.Name, definition);
    }
  }

  #entryPoints(): void {
    const { Schema: schemas = [], SchemaExtension: extensions = [] } = this.#document;
    if (schemas.length > 1) {
      throw refuse(
        schemas[1]?.position,
        "Cannot have multiple schema entry points, consider schema extensions instead.",
      );
    }
    for (const schema of [...schemas, ...extensions]) {
      for (const entry of schema.OperationTypes ?? []) {
        const definition = this.#types.get(entry.Type);
        if (definition === undefined) {
          throw refuse(
            entry.position,
            `Schema root ${entry.Operation} refers to a type ${entry.Type} that does not exist.`,
          );
        }
        this.#roots[entry.Operation] = definition;
      }
      this.#checkDirectives(schema.Directives, "SCHEMA", undefined, true);
    }
  }

  #finish(): Schema {
    const hasSchema = (this.#document.Schema ?? []).length > 0;
    const root = (operation: string, name: string): Definition | undefined =>
      this.#roots[operation] ?? (hasSchema ? undefined : this.#types.get(name));
    const query = root("query", "Query");
    if (query !== undefined) {
      const introspection = parseSchemaDocument("type Query { __schema: __Schema! __type(name: String!): __Type }");
      query.Fields = [...(query.Fields ?? []), ...(introspection.Definitions?.[0]?.Fields ?? [])];
    }
    return {
      types: this.#types,
      directives: this.#directives,
      possibleTypes: this.#possible,
      query,
      mutation: root("mutation", "Mutation"),
      subscription: root("subscription", "Subscription"),
    };
  }

  #check(definition: Definition): void {
    const fields = definition.Fields ?? [];
    const { Kind: kind, Name: name, position } = definition;
    for (const field of fields) {
      checkName(field.position, field.Name);
      this.#checkType(field.Type);
      this.#checkArguments(field.Arguments, undefined);
      const location = kind === "INPUT_OBJECT" ? "INPUT_FIELD_DEFINITION" : "FIELD_DEFINITION";
      this.#checkDirectives(field.Directives, location, undefined, true);
    }
    for (const member of definition.Types ?? []) {
      const type = this.#types.get(member);
      if (type === undefined) throw refuse(position, `Undefined type "${member}".`);
      if (type.Kind !== "OBJECT") throw refuse(position, `${kind} type "${member}" must be OBJECT.`);
    }
    for (const parent of definition.Interfaces ?? []) this.#checkImplements(definition, parent);
    this.#checkContent(definition, fields);
    checkUnique(fields, (field) => `Field ${name}.${field.Name} can only be defined once.`);
    checkUnique(definition.EnumValues ?? [], (value) => `Enum value ${name}.${value.Name} can only be defined once.`);
    const members = definition.Types ?? [];
    const repeated = members.find((member, index) => members.indexOf(member) !== index);
    if (repeated !== undefined) throw refuse(position, `Union type ${name} can only include type ${repeated} once.`);
    if (!definition.BuiltIn) checkName(position, name);
    this.#checkDirectives(definition.Directives, kind, undefined, false);
  }

  #checkContent(definition: Definition, fields: readonly FieldDefinition[]): void {
    const { Kind: kind, Name: name, position } = definition;
    if (kind === "OBJECT" || kind === "INTERFACE") {
      if (fields.length === 0) throw refuse(position, `${kind} ${name}: must define one or more fields.`);
      for (const field of fields) {
        if (this.#types.get(namedType(field.Type))?.Kind !== "INPUT_OBJECT") continue;
        throw refuse(field.position, `${kind} ${name}: field must be one of SCALAR, OBJECT, INTERFACE, UNION, ENUM.`);
      }
    }
    if (kind === "INPUT_OBJECT") {
      if (fields.length === 0) throw refuse(position, `${kind} ${name}: must define one or more input fields.`);
      for (const field of fields) {
        const type = this.#types.get(namedType(field.Type));
        if (type === undefined || isInputKind(type.Kind)) continue;
        throw refuse(field.position, `${type.Kind} ${field.Name}: field must be one of SCALAR, ENUM, INPUT_OBJECT.`);
      }
    }
    if (kind !== "ENUM") return;
    if ((definition.EnumValues ?? []).length === 0) {
      throw refuse(position, `${kind} ${name}: must define one or more unique enum values.`);
    }
    for (const value of definition.EnumValues ?? []) {
      if (/^(true|false|null)$/.test(value.Name)) {
        throw refuse(position, `${kind} ${name}: non-enum value ${value.Name}.`);
      }
      this.#checkDirectives(value.Directives, "ENUM_VALUE", undefined, true);
    }
  }

  #checkType(type: TypeNode): void {
    const name = namedType(type);
    if (!this.#types.has(name)) throw refuse(type.position, `Undefined type ${name}.`);
  }

  #checkArguments(args: readonly ArgumentDefinition[] | undefined, own: DirectiveDefinition | undefined): void {
    for (const argument of args ?? []) {
      checkName(argument.position, argument.Name);
      this.#checkType(argument.Type);
      const kind = this.#types.get(namedType(argument.Type))?.Kind ?? "";
      if (!isInputKind(kind)) {
        throw refuse(
          argument.position,
          `cannot use ${typeText(argument.Type)} as argument ${argument.Name} because ${kind} is not a valid input type`,
        );
      }
      this.#checkDirectives(argument.Directives, "ARGUMENT_DEFINITION", own, true);
    }
  }

  #checkDirectives(
    directives: readonly DirectiveNode[] | undefined,
    location: string,
    own: DirectiveDefinition | undefined,
    isSingle: boolean,
  ): void {
    const seen = new Set<string>();
    for (const directive of directives ?? []) {
      const { Name: name, position } = directive;
      checkName(position, name);
      if (own?.Name === name) throw refuse(position, `Directive ${name} cannot refer to itself.`);
      const definition = this.#directives.get(name);
      if (definition === undefined) throw refuse(position, `Undefined directive ${name}.`);
      if (isSingle && seen.has(name) && !definition.IsRepeatable) {
        throw refuse(position, `The directive ${name} can only be used once at this location.`);
      }
      seen.add(name);
      if (!definition.Locations?.includes(location)) {
        throw refuse(position, `Directive ${name} is not applicable on ${location}.`);
      }
      for (const argument of directive.Arguments ?? []) {
        if (definition.Arguments?.some((known) => known.Name === argument.Name)) continue;
        throw refuse(argument.position, `Undefined argument ${argument.Name} for directive ${name}.`);
      }
      for (const known of definition.Arguments ?? []) {
        if (!known.Type.NonNull || known.DefaultValue !== undefined) continue;
        const given = directive.Arguments?.find((argument) => argument.Name === known.Name);
        if (given === undefined || given.Value?.Kind === 6) {
          throw refuse(position, `Argument ${known.Name} for directive ${name} cannot be null.`);
        }
      }
    }
  }

  #checkImplements(definition: Definition, name: string): void {
    const parent = this.#types.get(name);
    const { position } = definition;
    if (parent === undefined) throw refuse(position, `Undefined type "${name}".`);
    if (parent.Kind !== "INTERFACE") throw refuse(position, `"${name}" is a non interface type ${parent.Kind}.`);
    for (const required of parent.Fields ?? []) {
      const found = definition.Fields?.find((field) => field.Name === required.Name);
      const prefix = `For ${definition.Name} to implement ${parent.Name}`;
      if (found === undefined) throw refuse(position, `${prefix} it must have a field called ${required.Name}.`);
      if (!this.#isCovariant(required.Type, found.Type)) {
        throw refuse(found.position, `${prefix} the field ${required.Name} must have type ${typeText(required.Type)}.`);
      }
      this.#checkImplementedArguments(prefix, required, found);
    }
    for (const transitive of parent.Interfaces ?? []) {
      if (definition.Interfaces?.includes(transitive)) continue;
      throw refuse(
        position,
        transitive === definition.Name
          ? `Type ${definition.Name} cannot implement ${name} because it would create a circular reference.`
          : `Type ${definition.Name} must implement ${transitive} because it is implemented by ${name}.`,
      );
    }
  }

  #checkImplementedArguments(prefix: string, required: FieldDefinition, found: FieldDefinition): void {
    for (const argument of required.Arguments ?? []) {
      const own = found.Arguments?.find((candidate) => candidate.Name === argument.Name);
      const same = `${prefix} the field ${required.Name} must have the same arguments but`;
      if (own === undefined) throw refuse(found.position, `${same} it is missing ${argument.Name}.`);
      if (typeText(own.Type) !== typeText(argument.Type)) {
        throw refuse(own.position, `${same} ${argument.Name} has the wrong type.`);
      }
    }
    for (const argument of found.Arguments ?? []) {
      if (required.Arguments?.some((candidate) => candidate.Name === argument.Name)) continue;
      if (!argument.Type.NonNull || argument.DefaultValue !== undefined) continue;
      throw refuse(
        argument.position,
        `${prefix} any additional arguments on ${found.Name} must be optional or have a default value but ${argument.Name} is required.`,
      );
    }
  }

  #isCovariant(required: TypeNode, actual: TypeNode): boolean {
    if (required.NonNull && !actual.NonNull) return false;
    if (required.NamedType !== "") {
      if (required.NamedType === actual.NamedType) return true;
      return this.#possible.get(required.NamedType)?.some((type) => type.Name === actual.NamedType) ?? false;
    }
    if (required.Elem === undefined || actual.Elem === undefined) return false;
    return this.#isCovariant(required.Elem, actual.Elem);
  }

  #checkInputCycles(): void {
    const done = new Set<string>();
    const visit = (definition: Definition, path: readonly FieldDefinition[], names: readonly string[]): void => {
      for (const field of definition.Fields ?? []) {
        const target = this.#types.get(field.Type.NamedType);
        if (!field.Type.NonNull || target?.Kind !== "INPUT_OBJECT") continue;
        const cycle = [...names, definition.Name].indexOf(target.Name);
        const fields = [...path, field];
        if (cycle !== -1) {
          const shown = fields
            .slice(cycle)
            .map(({ Name }) => Name)
            .join(".");
          throw refuse(
            fields[cycle]?.position,
            `Cannot reference Input Object "${target.Name}" within itself through a series of non-null fields: "${shown}".`,
          );
        }
        if (!done.has(target.Name)) visit(target, fields, [...names, definition.Name]);
      }
      done.add(definition.Name);
    };
    for (const name of [...this.#types.keys()].sort()) {
      const definition = this.#types.get(name);
      if (definition?.Kind === "INPUT_OBJECT" && !done.has(name)) visit(definition, [], []);
    }
  }
}

function checkName(position: Position | undefined, name: string): void {
  if (!name.startsWith("__")) return;
  throw refuse(position, `Name "${name}" must not begin with "__", which is reserved by GraphQL introspection.`);
}

function checkUnique<T extends { readonly Name: string; readonly position?: Position }>(
  items: readonly T[],
  message: (item: T) => string,
): void {
  const seen = new Set<string>();
  for (const item of items) {
    if (seen.has(item.Name)) throw refuse(item.position, message(item));
    seen.add(item.Name);
  }
}
