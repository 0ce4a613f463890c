import { type DecodeState, decodeValue, type Place } from "./decode.ts";
import { isRecord } from "./json.ts";
import { type WireType, wireStructNamed } from "./wire-types.ts";

/** The places in a CustomResourceDefinition's schema where a schema, a boolean or a list may stand. */
export function decodeSchemaOr(
  kind: "schemaorbool" | "schemaorarray" | "schemaorstrings",
  value: unknown,
  place: Place,
  state: DecodeState,
): unknown {
  // Their own readers are not strict in the real server, so unknown fields below are dropped without a word.
  const quiet: DecodeState = { unknownFields: [], error: undefined };
  const decoded = read(kind, value, place, quiet);
  state.error ??= quiet.error;
  return decoded;
}

function read(kind: string, value: unknown, place: Place, state: DecodeState): unknown {
  if (kind === "schemaorbool") {
    if (typeof value === "boolean") return value;
    if (isRecord(value)) return decodeValue(schemaType, value, { ...place, fields: "" }, state);
    state.error ??= "boolean or JSON schema expected";
    return undefined;
  }
  if (isRecord(value)) return decodeValue(schemaType, value, { ...place, fields: "" }, state);
  if (!Array.isArray(value)) return undefined;
  if (kind === "schemaorstrings") return value.map(String);
  return value.map((item: unknown) => decodeValue(schemaType, item, { ...place, fields: "" }, state) ?? {});
}

const schemaType: WireType = {
  kind: "struct",
  struct: () => {
    const struct = wireStructNamed("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    if (!struct) throw new Error("wire-types.generated.json lacks JSONSchemaProps");
    return struct;
  },
};
