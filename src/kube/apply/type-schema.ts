/**
 * The types that server-side apply merges by, in the format of structured-merge-diff: named types, each a scalar, a list or
 * a map, or several of these for values whose type shows only at run time.
 */
export interface TypeSchema {
  readonly types: readonly TypeDefinition[];
}

export type Scalar = "numeric" | "string" | "boolean" | "untyped";

export type ElementRelationship = "associative" | "atomic" | "separable";

export interface Atom {
  readonly scalar?: Scalar;
  readonly list?: ListAtom;
  readonly map?: MapAtom;
}

export interface TypeDefinition extends Atom {
  readonly name: string;
}

/** Either a name or an inlined atom; `elementRelationship` overrides the one of the type that is meant. */
export interface TypeReference extends Atom {
  readonly namedType?: string;
  readonly elementRelationship?: ElementRelationship;
}

export interface ListAtom {
  readonly elementType?: TypeReference;
  readonly elementRelationship?: ElementRelationship;
  readonly keys?: readonly string[];
}

export interface MapAtom {
  readonly fields?: readonly StructField[];
  /** The type of names that are not in `fields`; without it they are refused. */
  readonly elementType?: TypeReference;
  readonly elementRelationship?: ElementRelationship;
}

export interface StructField {
  readonly name: string;
  readonly type: TypeReference;
  readonly default?: unknown;
}

/** Anything, owned as a whole. */
export const untypedAtomicName = "__untyped_atomic_";

/** Anything, owned name by name; lists as a whole. */
export const untypedDeducedName = "__untyped_deduced_";

export const commonTypes: readonly TypeDefinition[] = [
  {
    name: untypedAtomicName,
    scalar: "untyped",
    list: { elementType: { namedType: untypedAtomicName }, elementRelationship: "atomic" },
    map: { elementType: { namedType: untypedAtomicName }, elementRelationship: "atomic" },
  },
  {
    name: untypedDeducedName,
    scalar: "untyped",
    list: { elementType: { namedType: untypedAtomicName }, elementRelationship: "atomic" },
    map: { elementType: { namedType: untypedDeducedName }, elementRelationship: "separable" },
  },
];
