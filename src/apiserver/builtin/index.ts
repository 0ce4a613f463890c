/** The built-in kinds of the embedded API: what the server needs to serve them. */
export { type AdmissionLookups, type Admitted, admitNew } from "./admission.ts";
export { decodeBuiltin, isKnownKind, type ShapedBody } from "./decode-builtin.ts";
export {
  builtinDefinitions,
  builtinSchema,
  definitionKinds,
  definitionNameOf,
  type GroupVersionKind,
} from "./definitions.ts";
export { humanDuration } from "./human-duration.ts";
export { claimLimitErrors, type LimitRange, podLimitErrors, withDefaultLimits } from "./limit-range.ts";
export { labelName, type NameRule, pathSegmentName, subdomainName } from "./names.ts";
export { validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";
export { type DecodedProtobuf, decodeProtobuf, ProtobufError, type ProtobufProblem } from "./protobuf.ts";
export { type BuiltinResource, builtinResources } from "./resources.ts";
export { allocateService, claimErrors, type ServiceAllocator, type ServiceClaims } from "./service-allocation.ts";
