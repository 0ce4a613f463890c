// Packs the Go types into the table that src/apiserver/builtin/wire-types.ts reads; the two files change together.

export interface GoTypes {
  readonly kinds: Readonly<Record<string, string>>;
  readonly structs: Readonly<Record<string, readonly GoField[]>>;
}

interface GoField {
  readonly json: string;
  readonly number: string;
  readonly inline?: string;
  readonly type: string;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly pointer: boolean;
}

const codes: Readonly<Record<string, string>> = {
  string: "s",
  bool: "b",
  int32: "i",
  int64: "l",
  float64: "f",
  bytes: "y",
  time: "t",
  microtime: "m",
  duration: "d",
  fields: "F",
  quantity: "q",
  intorstring: "o",
  raw: "r",
  json: "j",
  schemaorbool: "B",
  schemaorarray: "A",
  schemaorstrings: "S",
};

/** `structs[i]` is the flat list name, number, type, flags of each field; flags: 1 omitempty, 2 omitzero, 4 pointer, 8 inline. */
export function compactTypes(types: GoTypes): unknown {
  const names = Object.keys(types.structs).sort();
  const index = new Map(names.map((name, position) => [name, position]));
  const stringTypes: string[] = [];
  const pack = (type: string): string => {
    if (type.startsWith("[]")) return `[${pack(type.slice(2))}`;
    if (type.startsWith("{}")) return `{${pack(type.slice(2))}`;
    if (type.startsWith("wrapped[]")) return `w${pack(type.slice("wrapped[]".length))}`;
    if (type.startsWith("@")) return `@${index.get(type.slice(1))}`;
    if (type.startsWith("string:")) {
      const name = type.slice("string:".length);
      if (!stringTypes.includes(name)) stringTypes.push(name);
      return `s${stringTypes.indexOf(name)}`;
    }
    const code = codes[type];
    if (!code) throw new Error(`no code for the Go type ${type}`);
    return code;
  };
  return {
    kinds: Object.fromEntries(
      Object.entries(types.kinds).map(([kind, type]) => [kind.replace(/^\//, ""), index.get(type.slice(1))]),
    ),
    names,
    structs: names.map((name) =>
      (types.structs[name] ?? []).flatMap((field) => [
        field.inline === undefined ? field.json : "",
        Number(field.number),
        pack(field.type),
        Number(field.omitEmpty) +
          2 * Number(field.omitZero) +
          4 * Number(field.pointer) +
          8 * Number(field.inline !== undefined),
      ]),
    ),
    stringTypes,
  };
}
