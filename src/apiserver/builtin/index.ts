/** The built-in kinds of the embedded API: what the server needs to serve them. */
export { decodeBuiltin, type ShapedBody } from "./decode-builtin.ts";
export {
  builtinDefinitions,
  builtinSchema,
  definitionKinds,
  definitionNameOf,
  type GroupVersionKind,
} from "./definitions.ts";
export { validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";
export { type BuiltinResource, builtinResources } from "./resources.ts";
