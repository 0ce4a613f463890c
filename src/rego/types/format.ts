/** Types as OPA prints them in messages. */
import { formatValue } from "../values/format.ts";
import type { MaybeType } from "./types.ts";

export function formatType(type: MaybeType): string {
  if (type === undefined) return "???";
  switch (type.kind) {
    case "array": {
      const items = type.items.length === 0 ? "" : `<${type.items.map(formatType).join(", ")}>`;
      return `array${items}${type.rest === undefined ? "" : `[${formatType(type.rest)}]`}`;
    }
    case "set":
      return type.item === undefined ? "set" : `set[${formatType(type.item)}]`;
    case "object": {
      const fields = type.fields.map(
        ([key, field]) => `${typeof key === "string" ? key : formatValue(key)}: ${formatType(field)}`,
      );
      const shown = fields.length === 0 ? "" : `<${fields.join(", ")}>`;
      const rest = type.rest === undefined ? "" : `[${formatType(type.rest.key)}: ${formatType(type.rest.value)}]`;
      return `object${shown}${rest}`;
    }
    case "any":
      return type.of.length === 0 ? "any" : `any<${type.of.map(formatType).join(", ")}>`;
    case "function":
      return `${formatArguments(type.args, type.variadic)} => ${formatType(type.result)}`;
    default:
      return type.kind;
  }
}

export function formatArguments(args: readonly MaybeType[], variadic?: MaybeType): string {
  const shown = args.map(formatType);
  if (variadic !== undefined) shown.push(`${formatType(variadic)}...`);
  return `(${shown.join(", ")})`;
}
