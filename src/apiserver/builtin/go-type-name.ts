import type { WireType } from "./wire-types.ts";

/** A type as Go's messages print it: `[]v1.Container`, `map[string]string`. */
export function goTypeName(type: WireType): string {
  switch (type.kind) {
    case "struct": {
      const parts = type.struct().name.split(".");
      return `${parts.at(-2)}.${parts.at(-1)}`;
    }
    case "list":
      return `[]${goTypeName(type.items)}`;
    case "map":
      return type.values.kind === "quantity" ? "v1.ResourceList" : `map[string]${goTypeName(type.values)}`;
    case "string":
      return type.goType;
    case "bytes":
      return "[]uint8";
    case "quantity":
      return "resource.Quantity";
    case "time":
      return "v1.Time";
    case "microtime":
      return "v1.MicroTime";
    case "duration":
      return "v1.Duration";
    case "intorstring":
      return "intstr.IntOrString";
    default:
      return type.kind;
  }
}
