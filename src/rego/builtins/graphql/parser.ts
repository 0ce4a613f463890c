/** GraphQL queries and schemas to documents. */
import type {
  ArgumentDefinition,
  ArgumentNode,
  CommentGroup,
  Definition,
  DirectiveDefinition,
  DirectiveNode,
  EnumValueDefinition,
  FieldDefinition,
  FragmentNode,
  OperationNode,
  Position,
  QueryDocument,
  SchemaDefinition,
  SchemaDocument,
  SelectionNode,
  TypeNode,
  ValueNode,
  VariableNode,
} from "./ast.ts";
import { GraphqlFault } from "./ast.ts";
import { describeToken, lexGraphql, type Token } from "./lexer.ts";

/** Throws `GraphqlFault`. */
export function parseQueryDocument(source: string): QueryDocument {
  return new GraphqlParser(source).query();
}

/** Throws `GraphqlFault`. */
export function parseSchemaDocument(source: string, isBuiltIn = false): SchemaDocument {
  return new GraphqlParser(source).schema(isBuiltIn);
}

/** Deeper values and selections than this are refused. */
const maxDepth = 500;

class GraphqlParser {
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;
  /** The comments before the brace that closed the last list. */
  #endComment: CommentGroup | undefined;

  constructor(source: string) {
    this.#tokens = lexGraphql(source);
  }

  query(): QueryDocument {
    const operations: OperationNode[] = [];
    const fragments: FragmentNode[] = [];
    while (!this.#is("<EOF>")) {
      const token = this.#peek();
      if (token.kind === "{" || (token.kind === "Name" && /^(query|mutation|subscription)$/.test(token.value))) {
        operations.push(this.#operation());
      } else if (token.kind === "Name" && token.value === "fragment") fragments.push(this.#fragment());
      else throw this.#unexpected();
    }
    return {
      ...(operations.length > 0 && { Operations: operations }),
      ...(fragments.length > 0 && { Fragments: fragments }),
    };
  }

  schema(isBuiltIn: boolean): SchemaDocument {
    const document: Required<{ [Name in keyof Omit<SchemaDocument, "Comment">]: NonNullable<SchemaDocument[Name]> }> = {
      Schema: [],
      SchemaExtension: [],
      Directives: [],
      Definitions: [],
      Extensions: [],
    };
    while (!this.#is("<EOF>")) {
      const before = this.#comment();
      const isDescribed = this.#is("String") || this.#is("BlockString");
      const descriptionToken = this.#peek();
      const description = isDescribed ? this.#next().value : "";
      if (!this.#is("Name")) throw this.#unexpected();
      const { value } = this.#peek();
      const described = { before: isDescribed ? before : undefined, text: description };
      if (/^(scalar|type|interface|union|enum|input)$/.test(value)) {
        document.Definitions.push(this.#definition(described, false, isBuiltIn));
      } else if (value === "schema") document.Schema.push(this.#schemaDefinition(described, false));
      else if (value === "directive") document.Directives.push(this.#directiveDefinition(described));
      else if (value === "extend") {
        if (description !== "") throw this.#unexpected(descriptionToken);
        const after = this.#comment();
        this.#next();
        const word = this.#peek().value;
        if (word === "schema") document.SchemaExtension.push(this.#schemaDefinition({ text: "", after }, true));
        else if (/^(scalar|type|interface|union|enum|input)$/.test(word)) {
          document.Extensions.push(this.#definition({ text: "", after }, true, isBuiltIn));
        } else throw this.#unexpected();
      } else throw this.#unexpected();
    }
    const comment = this.#comment();
    return { ...document, ...(comment && { Comment: comment }) };
  }

  #peek(): Token {
    const token = this.#tokens[Math.min(this.#position, this.#tokens.length - 1)];
    if (token === undefined) throw new GraphqlFault("Unexpected <EOF>", undefined);
    return token;
  }

  /** The comments before the token that is next. */
  #comment(): CommentGroup | undefined {
    const { comments } = this.#peek();
    return comments.length === 0 ? undefined : { List: comments.map((Value) => ({ Value })) };
  }

  #next(): Token {
    const token = this.#peek();
    if (token.fault !== undefined) throw token.fault;
    this.#position++;
    return token;
  }

  #is(kind: string): boolean {
    return this.#peek().kind === kind;
  }

  #skip(kind: string): boolean {
    if (!this.#is(kind)) return false;
    this.#next();
    return true;
  }

  #expect(kind: string): Token {
    const token = this.#peek();
    if (token.kind === kind) return this.#next();
    throw new GraphqlFault(`Expected ${kind}, found ${token.kind}`, token.position);
  }

  #expectKeyword(word: string): void {
    const token = this.#peek();
    if (token.kind === "Name" && token.value === word) {
      this.#next();
      return;
    }
    throw new GraphqlFault(`Expected "${word}", found ${describeToken(token)}`, token.position);
  }

  #unexpected(token: Token = this.#peek()): GraphqlFault {
    return new GraphqlFault(`Unexpected ${describeToken(token)}`, token.position);
  }

  #name(): string {
    return this.#expect("Name").value;
  }

  #here(): Position {
    return this.#peek().position;
  }

  /** Zero or more between two signs, if the first one is there. */
  #many<T>(start: string, end: string, read: () => T): T[] {
    if (!this.#skip(start)) return [];
    const items: T[] = [];
    while (!this.#is(end)) items.push(this.#nested(read));
    this.#next();
    return items;
  }

  /** One or more between two signs, if the first one is there. */
  #some<T>(start: string, end: string, read: () => T): T[] | undefined {
    if (!this.#is(start)) return undefined;
    this.#next();
    const items: T[] = [];
    while (!this.#is(end)) items.push(this.#nested(read));
    this.#endComment = this.#comment();
    if (items.length === 0) {
      throw new GraphqlFault(`expected at least one definition, found ${this.#peek().kind}`, this.#here());
    }
    this.#next();
    return items;
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > maxDepth) throw new GraphqlFault("nesting is too deep", this.#here());
    const result = read();
    this.#depth--;
    return result;
  }

  #operation(): OperationNode {
    const position = this.#here();
    const comment = this.#comment();
    const base = { position, ...(comment && { Comment: comment }) };
    // OPA drops the comment of a query without a name.
    if (this.#is("{")) return { position, Operation: "query", Name: "", SelectionSet: this.#selectionSet() };
    const operation = this.#operationType();
    const name = this.#is("Name") ? this.#next().value : "";
    const variables = this.#variables();
    const directives = this.#directives(false);
    return {
      ...base,
      Operation: operation,
      Name: name,
      VariableDefinitions: variables,
      Directives: directives,
      SelectionSet: this.#selectionSet(),
    };
  }

  #operationType(): string {
    const token = this.#next();
    if (/^(query|mutation|subscription)$/.test(token.value)) return token.value;
    throw this.#unexpected(token);
  }

  #variables(): VariableNode[] | undefined {
    return this.#some("(", ")", () => {
      const position = this.#here();
      const comment = this.#comment();
      this.#expect("$");
      const name = this.#name();
      this.#expect(":");
      const type = this.#type();
      const defaultValue = this.#skip("=") ? this.#value(true) : undefined;
      return {
        position,
        Variable: name,
        Type: type,
        DefaultValue: defaultValue,
        Directives: this.#directives(false),
        ...(comment && { Comment: comment }),
        Used: false,
      };
    });
  }

  #selectionSet(): SelectionNode[] {
    if (!this.#is("{")) throw new GraphqlFault(`Expected {, found ${this.#peek().kind}`, this.#here());
    return this.#some("{", "}", () => this.#selection()) ?? [];
  }

  #selection(): SelectionNode {
    const comment = this.#comment();
    const withComment = comment === undefined ? {} : { Comment: comment };
    if (this.#skip("...")) {
      const position = this.#here();
      if (this.#is("Name") && this.#peek().value !== "on") {
        return { position, Name: this.#name(), Directives: this.#directives(false), ...withComment };
      }
      let condition = "";
      if (this.#peek().value === "on") {
        this.#next();
        condition = this.#name();
      }
      const directives = this.#directives(false);
      return {
        position,
        TypeCondition: condition,
        Directives: directives,
        SelectionSet: this.#selectionSet(),
        ...withComment,
      };
    }
    const position = this.#here();
    const alias = this.#name();
    const name = this.#skip(":") ? this.#name() : alias;
    const args = this.#arguments(false);
    const directives = this.#directives(false);
    const selections = this.#is("{") ? this.#selectionSet() : undefined;
    return {
      position,
      Alias: alias,
      Name: name,
      Arguments: args,
      Directives: directives,
      SelectionSet: selections,
      ...withComment,
    };
  }

  #fragment(): FragmentNode {
    const position = this.#here();
    const comment = this.#comment();
    this.#expectKeyword("fragment");
    if (this.#peek().value === "on") throw this.#unexpected();
    const name = this.#name();
    const variables = this.#variables();
    this.#expectKeyword("on");
    const condition = this.#name();
    const directives = this.#directives(false);
    return {
      position,
      Name: name,
      VariableDefinition: variables,
      TypeCondition: condition,
      Directives: directives,
      SelectionSet: this.#selectionSet(),
      ...(comment && { Comment: comment }),
    };
  }

  #arguments(isConstant: boolean): ArgumentNode[] | undefined {
    return this.#some("(", ")", () => {
      const position = this.#here();
      const comment = this.#comment();
      const name = this.#name();
      this.#expect(":");
      return { position, Name: name, Value: this.#value(isConstant), ...(comment && { Comment: comment }) };
    });
  }

  #directives(isConstant: boolean): DirectiveNode[] | undefined {
    const directives: DirectiveNode[] = [];
    while (this.#skip("@")) {
      const position = this.#here();
      directives.push({ position, Name: this.#name(), Arguments: this.#arguments(isConstant), Location: "" });
    }
    return directives.length === 0 ? undefined : directives;
  }

  #value(isConstant: boolean): ValueNode {
    const token = this.#peek();
    const { position } = token;
    const comment = this.#comment();
    const withComment = comment === undefined ? {} : { Comment: comment };
    const make = (kind: number, raw: string, children?: ValueNode["Children"]): ValueNode => ({
      position,
      Raw: raw,
      Kind: kind,
      ...(children && { Children: children }),
      ExpectedTypeHasDefault: false,
    });
    switch (token.kind) {
      case "[": {
        const items = this.#many("[", "]", () => ({ Name: "", Value: this.#value(isConstant) }));
        return { ...make(8, "", items), ...withComment };
      }
      case "{": {
        const fields = this.#many("{", "}", () => {
          const at = this.#here();
          const own = this.#comment();
          const name = this.#name();
          this.#expect(":");
          return { position: at, Name: name, Value: this.#value(isConstant), ...(own && { Comment: own }) };
        });
        return { ...make(9, "", fields), ...withComment };
      }
      case "$":
        if (isConstant) throw this.#unexpected();
        this.#next();
        return make(0, this.#name());
      case "Int":
      case "Float":
      case "String":
      case "BlockString":
        this.#next();
        return make({ Int: 1, Float: 2, String: 3, BlockString: 4 }[token.kind], token.value);
      case "Name":
        this.#next();
        if (token.value === "true" || token.value === "false") return make(5, token.value);
        return make(token.value === "null" ? 6 : 7, token.value);
      default:
        throw this.#unexpected();
    }
  }

  #type(): TypeNode {
    let type: TypeNode;
    if (this.#skip("[")) {
      const position = this.#here();
      const element = this.#nested(() => this.#type());
      this.#expect("]");
      type = { position, NamedType: "", Elem: element, NonNull: false };
    } else type = { position: this.#here(), NamedType: this.#name(), NonNull: false };
    return this.#skip("!") ? { ...type, NonNull: true } : type;
  }

  #definition(described: Description, isExtension: boolean, isBuiltIn: boolean): Definition {
    const after = described.after ?? (isExtension ? undefined : this.#comment());
    const word = this.#next().value;
    const position = this.#here();
    const name = this.#name();
    const definition: Definition = {
      position,
      Kind: kinds[word] ?? "",
      Description: described.text,
      Name: name,
      BuiltIn: isBuiltIn,
      ...comments(described.before, after),
    };
    if (word === "type" || (word === "interface" && !isExtension)) definition.Interfaces = this.#interfaces();
    definition.Directives = this.#directives(word !== "input" || !isExtension);
    this.#endComment = undefined;
    if (word === "type" || word === "interface") definition.Fields = this.#some("{", "}", () => this.#field(true));
    else if (word === "input") definition.Fields = this.#some("{", "}", () => this.#field(false));
    else if (word === "enum") definition.EnumValues = this.#some("{", "}", () => this.#enumValue());
    else if (word === "union") definition.Types = this.#unionTypes();
    const isBraced = definition.Fields !== undefined || definition.EnumValues !== undefined;
    if (isBraced && this.#endComment !== undefined) definition.EndOfDefinitionComment = this.#endComment;
    const { Interfaces, Directives, Fields, EnumValues, Types } = definition;
    if (isExtension && !Interfaces && !Directives && !Fields && !EnumValues && !Types) throw this.#unexpected();
    return definition;
  }

  #interfaces(): string[] | undefined {
    if (this.#peek().value !== "implements") return undefined;
    this.#next();
    this.#skip("&");
    const names = [this.#name()];
    while (this.#skip("&")) names.push(this.#name());
    return names;
  }

  #unionTypes(): string[] | undefined {
    if (!this.#skip("=")) return undefined;
    this.#skip("|");
    const names = [this.#name()];
    while (this.#skip("|")) names.push(this.#name());
    return names;
  }

  #description(): Description {
    const before = this.#comment();
    if (!this.#is("String") && !this.#is("BlockString")) return { text: "" };
    const text = this.#next().value;
    return text === "" ? { text } : { text, before };
  }

  #field(hasArguments: boolean): FieldDefinition {
    const { text, before } = this.#description();
    const after = this.#comment();
    const position = this.#here();
    const name = this.#name();
    const args = hasArguments ? this.#argumentDefinitions() : undefined;
    this.#expect(":");
    const type = this.#type();
    const defaultValue = !hasArguments && this.#skip("=") ? this.#value(true) : undefined;
    return {
      position,
      Description: text,
      Name: name,
      Arguments: args,
      DefaultValue: defaultValue,
      Type: type,
      Directives: this.#directives(true),
      ...comments(before, after),
    };
  }

  #argumentDefinitions(): ArgumentDefinition[] | undefined {
    return this.#some("(", ")", () => this.#field(false));
  }

  #enumValue(): EnumValueDefinition {
    const { text, before } = this.#description();
    const after = this.#comment();
    const position = this.#here();
    const name = this.#name();
    return { position, Description: text, Name: name, Directives: this.#directives(true), ...comments(before, after) };
  }

  #directiveDefinition(described: Description): DirectiveDefinition {
    const after = this.#comment();
    this.#expectKeyword("directive");
    this.#expect("@");
    const position = this.#here();
    const name = this.#name();
    const args = this.#argumentDefinitions();
    const isRepeatable = this.#is("Name") && this.#peek().value === "repeatable";
    if (isRepeatable) this.#next();
    this.#expectKeyword("on");
    this.#skip("|");
    const locations = [this.#directiveLocation()];
    while (this.#skip("|")) locations.push(this.#directiveLocation());
    return {
      position,
      Description: described.text,
      Name: name,
      Arguments: args,
      Locations: locations,
      IsRepeatable: isRepeatable,
      ...comments(described.before, after),
    };
  }

  #directiveLocation(): string {
    const token = this.#expect("Name");
    if (!directiveLocations.has(token.value)) throw this.#unexpected(token);
    return token.value;
  }

  #schemaDefinition(described: Description, isExtension: boolean): SchemaDefinition {
    const after = described.after ?? (isExtension ? undefined : this.#comment());
    this.#expectKeyword("schema");
    const position = this.#here();
    const directives = this.#directives(true);
    const operations = this.#some("{", "}", () => {
      const at = this.#here();
      const comment = this.#comment();
      const operation = this.#operationType();
      this.#expect(":");
      return { position: at, Operation: operation, Type: this.#name(), ...(comment && { Comment: comment }) };
    });
    const end = operations === undefined ? undefined : this.#endComment;
    if (isExtension && directives === undefined && operations === undefined) throw this.#unexpected();
    return {
      position,
      Description: described.text,
      Directives: directives,
      OperationTypes: operations,
      ...(end && { EndOfDefinitionComment: end }),
      ...comments(described.before, after),
    };
  }
}

interface Description {
  readonly text: string;
  readonly before?: CommentGroup | undefined;
  readonly after?: CommentGroup | undefined;
}

function comments(before: CommentGroup | undefined, after: CommentGroup | undefined) {
  return { ...(before && { BeforeDescriptionComment: before }), ...(after && { AfterDescriptionComment: after }) };
}

const kinds: { readonly [word: string]: string } = {
  scalar: "SCALAR",
  type: "OBJECT",
  interface: "INTERFACE",
  union: "UNION",
  enum: "ENUM",
  input: "INPUT_OBJECT",
};

const directiveLocations = new Set(
  (
    "QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION SCHEMA " +
    "SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT INPUT_FIELD_DEFINITION"
  ).split(" "),
);
