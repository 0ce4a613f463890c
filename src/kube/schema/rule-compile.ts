import { type CelProgram, compileCel } from "../cel/compile.ts";
import { type DeclaredType, declaredType, withObjectMeta } from "../cel/declared-type.ts";
import { escapeField } from "../cel/escape.ts";
import { optionalType } from "../cel/type.ts";
import { resolveRef, valuesOf } from "./resolve.ts";
import { normalizeFieldPath } from "./rule-field-path.ts";
import type { Definitions, Schema, ValidationRule } from "./schema.ts";

/** Schemas that contain themselves are followed this deep. */
const maxDepth = 64;

/** One level of a schema with its rules, and the levels below that have rules. */
export interface RuleNode {
  readonly schema: Schema;
  readonly rules: readonly CompiledRule[];
  /** Rules on this level cannot be compiled, because the schema does not say what the value is. */
  readonly problem?: string;
  readonly allOf: readonly RuleNode[];
  readonly items?: RuleNode;
  readonly values?: RuleNode;
  readonly properties: ReadonlyMap<string, RuleNode>;
}

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program?: CelProgram;
  readonly compileError?: string;
  readonly usesOldSelf: boolean;
  readonly message?: CelProgram;
  readonly fieldPath: string;
}

export function hasRules(schema: Schema, definitions: Definitions, seen: Set<Schema>): boolean {
  const resolved = resolveRef(schema, definitions);
  if (seen.has(resolved)) return false;
  seen.add(resolved);
  if ((resolved["x-kubernetes-validations"] ?? []).length > 0) return true;
  const children = [
    resolved.items,
    valuesOf(resolved),
    ...Object.values(resolved.properties ?? {}),
    ...(resolved.allOf ?? []),
  ];
  return children.some((child) => child !== undefined && hasRules(child, definitions, seen));
}

/** `validations` carries the rules; they may stand in an `allOf`, while `node` is the schema that says what the value is. */
export function compileNode(
  validations: Schema,
  given: Schema,
  declared: DeclaredType | undefined,
  definitions: Definitions,
  isResource: boolean,
  depth = 0,
): RuleNode | undefined {
  if (depth > maxDepth) return undefined;
  const rulesOf = resolveRef(validations, definitions);
  const resolved = resolveRef(given, definitions);
  const node = isResource ? withObjectMeta(resolved) : resolved;
  const rules = rulesOf["x-kubernetes-validations"] ?? [];
  // Rules see their own level as a type of its own name.
  const own = declared && rules.length > 0 ? declaredType(resolved, definitions, isResource) : declared;
  const isEmbedded = (schema: Schema): boolean =>
    resolveRef(schema, definitions)["x-kubernetes-embedded-resource"] === true;
  const child = (
    part: Schema | undefined,
    of: Schema | undefined,
    type: DeclaredType | undefined,
  ): RuleNode | undefined =>
    part === undefined || of === undefined || !hasRules(part, definitions, new Set())
      ? undefined
      : compileNode(part, of, type, definitions, isEmbedded(of), depth + 1);
  const properties = new Map<string, RuleNode>();
  for (const [name, part] of Object.entries(rulesOf.properties ?? {})) {
    const of = node.properties?.[name];
    if (of === undefined) continue;
    const escaped = escapeField(name);
    // What no expression can name may still have rules of its own.
    const type = escaped === undefined ? declaredType(of, definitions, isEmbedded(of)) : declared?.fields?.get(escaped);
    const compiled = type && child(part, of, type);
    if (compiled !== undefined) properties.set(name, compiled);
  }
  const items = child(rulesOf.items, node.items, declared?.element);
  const values = child(valuesOf(rulesOf), valuesOf(node), declared?.element);
  const allOf = (rulesOf.allOf ?? []).flatMap((part) => {
    const compiled = hasRules(part, definitions, new Set())
      ? compileNode(part, given, declared, definitions, isResource, depth + 1)
      : undefined;
    return compiled ? [compiled] : [];
  });
  return {
    schema: node,
    rules: own === undefined ? [] : rules.map((rule) => compileRule(rule, own, node)),
    ...(own === undefined && rules.length > 0 && { problem: "failed to convert to declType for CEL validation rules" }),
    allOf,
    ...(items && { items }),
    ...(values && { values }),
    properties,
  };
}

export function compileRule(rule: ValidationRule, declared: DeclaredType, schema: Schema): CompiledRule {
  const variables = {
    self: declared,
    oldSelf: rule.optionalOldSelf === true ? { ...declared, type: optionalType(declared.type) } : declared,
  };
  const fieldPath =
    rule.fieldPath === undefined || rule.fieldPath === ""
      ? ""
      : (normalizeFieldPath(rule.fieldPath, schema).path ?? "");
  if (rule.rule.trim() === "") return { rule, usesOldSelf: false, fieldPath };
  const compiled = compileCel(rule.rule, variables);
  if (!compiled.ok) {
    const prefix = compiled.stage === "compile" ? "compilation failed: " : "program instantiation failed: ";
    return { rule, compileError: prefix + compiled.message, usesOldSelf: false, fieldPath };
  }
  const { program } = compiled;
  if (program.type.kind !== "bool") {
    return { rule, compileError: "cel expression must evaluate to a bool", usesOldSelf: false, fieldPath };
  }
  const message = rule.messageExpression ? compileCel(rule.messageExpression, variables) : undefined;
  return {
    rule,
    program,
    usesOldSelf: program.variables.has("oldSelf"),
    ...(message?.ok && message.program.type.kind === "string" && { message: message.program }),
    fieldPath,
  };
}
