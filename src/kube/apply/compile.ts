/** Turns a type schema into linked objects once, so that walking a value needs no look-up by name. */
import { compareUtf8 } from "../go-text.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import {
  type Atom,
  type ElementRelationship,
  type ListAtom,
  type MapAtom,
  type Scalar,
  type TypeReference,
  type TypeSchema,
  untypedDeducedName,
} from "./type-schema.ts";

/** What a value may be. More than one of the three: the value decides. */
export interface Type {
  readonly scalar: Scalar | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
  /** Says what is wrong when the schema itself has a hole here. */
  readonly fault: string | undefined;
}

export interface ListType {
  readonly kind: "List";
  readonly relationship: ElementRelationship | undefined;
  readonly keys: readonly string[];
  /** The keys in the order in which they stand in a path, each with its text there. */
  readonly orderedKeys: readonly OrderedKey[];
  readonly element: Type;
}

export interface OrderedKey {
  readonly name: string;
  /** `"name":` */
  readonly text: string;
}

export interface MapType {
  readonly kind: "Map";
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly element: Type | undefined;
  /** Deduced maps know nothing about their content, so no schema change can be seen in them. */
  readonly deduced: boolean;
}

export interface FieldType {
  readonly element: PathElement;
  readonly type: Type;
  readonly default: unknown;
}

export interface CompiledSchema {
  /** The type of that name; a type with a fault when there is none. */
  type(name: string): Type;
  resolve(reference: TypeReference): Type;
}

export function compileSchema(schema: TypeSchema): CompiledSchema {
  const definitions = new Map(schema.types.map((definition) => [definition.name, definition]));
  return compileTypes((name) => definitions.get(name));
}

/** As `compileSchema`, for types that are made when they are first asked for. */
export function compileTypes(atomOf: (name: string) => Atom | undefined): CompiledSchema {
  const named = new Map<string, MutableType>();

  function type(name: string): MutableType {
    const known = named.get(name);
    if (known) return known;
    const definition = atomOf(name);
    const compiled: MutableType = { scalar: undefined, list: undefined, map: undefined, fault: undefined };
    // Registered before it is filled: types may contain themselves.
    named.set(name, compiled);
    Object.assign(compiled, definition ? compileAtom(definition, `named type: ${name}`) : missingType(name));
    return compiled;
  }

  function resolve(reference: TypeReference): Type {
    const { namedType, elementRelationship } = reference;
    if (elementRelationship !== undefined) {
      const atom = namedType === undefined ? reference : atomOf(namedType);
      const overridden = atom && withRelationship(atom, elementRelationship);
      return overridden ? compileAtom(overridden, "inlined") : missingType(namedType ?? "inlined type");
    }
    return namedType === undefined ? compileAtom(reference, "inlined") : type(namedType);
  }

  function compileAtom(atom: Atom, name: string): Type {
    const { scalar } = atom;
    const list = atom.list && compileList(atom.list);
    const map = atom.map && compileMap(atom.map);
    const fault = scalar || list || map ? undefined : `schema error: invalid atom: ${name}`;
    return { scalar, list, map, fault };
  }

  function compileList(list: ListAtom): ListType {
    const reference = list.elementType ?? {};
    return lazyList(list.elementRelationship, list.keys ?? [], () => resolve(reference));
  }

  function compileMap(map: MapAtom): MapType {
    const fields = new Map<string, FieldType>();
    for (const field of map.fields ?? []) {
      fields.set(
        field.name,
        lazyField(fieldElement(field.name), field.default, () => resolve(field.type)),
      );
    }
    const reference = map.elementType;
    const atomic = map.elementRelationship === "atomic";
    const deduced = fields.size === 0 && reference !== undefined && isDeduced(reference);
    return lazyMap(atomic, fields, deduced, reference && isReference(reference) ? () => resolve(reference) : undefined);
  }

  return { type, resolve };
}

const missingType = (name: string): Type => ({
  scalar: undefined,
  list: undefined,
  map: undefined,
  fault: `schema error: no type found matching: ${name}`,
});

type MutableType = { -readonly [Name in keyof Type]: Type[Name] };

/** The override is for the map where there is one; a scalar has no elements that could relate. */
function withRelationship(atom: Atom, elementRelationship: ElementRelationship): Atom | undefined {
  if (atom.map) return { ...atom, map: { ...atom.map, elementRelationship } };
  return atom.list && { ...atom, list: { ...atom.list, elementRelationship } };
}

const isReference = (reference: TypeReference): boolean =>
  reference.namedType !== undefined || !!(reference.scalar || reference.list || reference.map);

const isDeduced = (reference: TypeReference): boolean =>
  reference.namedType === undefined ? reference.scalar === "untyped" : reference.namedType === untypedDeducedName;

// Inlined types may lead back to the named type that contains them, so they are compiled when first walked into.
function lazyList(
  relationship: ElementRelationship | undefined,
  keys: readonly string[],
  resolve: () => Type,
): ListType {
  let element: Type | undefined;
  const orderedKeys = [...keys].sort(compareUtf8).map((name) => ({ name, text: `${JSON.stringify(name)}:` }));
  return {
    kind: "List",
    relationship,
    keys,
    orderedKeys,
    get element() {
      element ??= resolve();
      return element;
    },
  };
}

function lazyField(element: PathElement, defaultValue: unknown, resolve: () => Type): FieldType {
  let type: Type | undefined;
  return {
    element,
    default: defaultValue,
    get type() {
      type ??= resolve();
      return type;
    },
  };
}

function lazyMap(
  atomic: boolean,
  fields: ReadonlyMap<string, FieldType>,
  deduced: boolean,
  resolve: (() => Type) | undefined,
): MapType {
  let element: Type | undefined;
  return {
    kind: "Map",
    atomic,
    fields,
    deduced,
    get element() {
      if (resolve) element ??= resolve();
      return element;
    },
  };
}
