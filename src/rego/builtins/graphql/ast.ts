/** GraphQL documents with the field names that OPA shows; positions are kept beside the nodes, not in them. */

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface CommentGroup {
  readonly List: readonly { readonly Value: string }[];
}

export interface Located {
  /** Not shown; absent on documents that came as objects. */
  position?: Position;
}

export interface TypeNode extends Located {
  NamedType: string;
  Elem?: TypeNode | undefined;
  NonNull: boolean;
}

/** 0 variable, 1 int, 2 float, 3 string, 4 block, 5 boolean, 6 null, 7 enum, 8 list, 9 object. */
export interface ValueNode extends Located {
  Raw: string;
  Children?: ChildNode[] | undefined;
  Kind: number;
  Comment?: CommentGroup | undefined;
  ExpectedTypeHasDefault: boolean;
}

export interface ChildNode extends Located {
  Name: string;
  Value?: ValueNode | undefined;
  Comment?: CommentGroup | undefined;
}

export interface ArgumentNode extends Located {
  Name: string;
  Value?: ValueNode | undefined;
  Comment?: CommentGroup | undefined;
}

export interface DirectiveNode extends Located {
  Name: string;
  Arguments?: ArgumentNode[] | undefined;
  Location: string;
}

export interface SelectionNode extends Located {
  Alias?: string | undefined;
  Name?: string | undefined;
  TypeCondition?: string | undefined;
  Arguments?: ArgumentNode[] | undefined;
  Directives?: DirectiveNode[] | undefined;
  SelectionSet?: SelectionNode[] | undefined;
  Comment?: CommentGroup | undefined;
}

export interface VariableNode extends Located {
  Variable: string;
  Type: TypeNode;
  DefaultValue?: ValueNode | undefined;
  Directives?: DirectiveNode[] | undefined;
  Comment?: CommentGroup | undefined;
  Used: boolean;
}

export interface OperationNode extends Located {
  Operation: string;
  Name: string;
  VariableDefinitions?: VariableNode[] | undefined;
  Directives?: DirectiveNode[] | undefined;
  SelectionSet?: SelectionNode[] | undefined;
  Comment?: CommentGroup | undefined;
}

export interface FragmentNode extends Located {
  Name: string;
  VariableDefinition?: VariableNode[] | undefined;
  TypeCondition: string;
  Directives?: DirectiveNode[] | undefined;
  SelectionSet?: SelectionNode[] | undefined;
  Comment?: CommentGroup | undefined;
}

export interface QueryDocument {
  Operations?: OperationNode[] | undefined;
  Fragments?: FragmentNode[] | undefined;
  Comment?: CommentGroup | undefined;
}

interface Described extends Located {
  Description: string;
  BeforeDescriptionComment?: CommentGroup | undefined;
  AfterDescriptionComment?: CommentGroup | undefined;
  EndOfDefinitionComment?: CommentGroup | undefined;
}

export interface ArgumentDefinition extends Described {
  Name: string;
  DefaultValue?: ValueNode | undefined;
  Type: TypeNode;
  Directives?: DirectiveNode[] | undefined;
}

export interface FieldDefinition extends ArgumentDefinition {
  Arguments?: ArgumentDefinition[] | undefined;
}

export interface EnumValueDefinition extends Described {
  Name: string;
  Directives?: DirectiveNode[] | undefined;
}

export interface Definition extends Described {
  Kind: string;
  Name: string;
  Directives?: DirectiveNode[] | undefined;
  Interfaces?: string[] | undefined;
  Fields?: FieldDefinition[] | undefined;
  Types?: string[] | undefined;
  EnumValues?: EnumValueDefinition[] | undefined;
  BuiltIn: boolean;
}

export interface DirectiveDefinition extends Described {
  Name: string;
  Arguments?: ArgumentDefinition[] | undefined;
  Locations?: string[] | undefined;
  IsRepeatable: boolean;
}

export interface SchemaDefinition extends Described {
  Directives?: DirectiveNode[] | undefined;
  OperationTypes?: ({ Operation: string; Type: string; Comment?: CommentGroup | undefined } & Located)[] | undefined;
}

export interface SchemaDocument {
  Schema?: SchemaDefinition[] | undefined;
  SchemaExtension?: SchemaDefinition[] | undefined;
  Directives?: DirectiveDefinition[] | undefined;
  Definitions?: Definition[] | undefined;
  Extensions?: Definition[] | undefined;
  Comment?: CommentGroup | undefined;
}

export class GraphqlFault extends Error {
  readonly reason: string;

  constructor(reason: string, position: Position | undefined) {
    super(
      position === undefined
        ? `GraphQL parse error: input: ${reason}`
        : `${reason} in GraphQL string at location ${position.line}:${position.column}`,
    );
    this.reason = reason;
  }
}
