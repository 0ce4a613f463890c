import type { FieldError } from "../field-error.ts";
import type { Correlation } from "./correlation.ts";
import type { Definitions, Schema } from "./schema.ts";

export interface CompiledRules {
  validate(
    value: unknown,
    old: unknown,
    correlation: Correlation | undefined,
    onWarning?: (warning: string) => void,
  ): readonly FieldError[];
}

export function compileRules(_schema: Schema, _definitions: Definitions): CompiledRules | undefined {
  return undefined;
}
