/** Checks a document against a compiled JSON Schema. */
import { compareValues, equalValues, typeName } from "../values/compare.ts";
import { toJsonText } from "../values/json.ts";
import { compareNumbers, type Decimal, integerOf, isNumber, numberText, partsOf } from "../values/number.ts";
import { isArray, RegoObject, type Value } from "../values/value.ts";
import { type CompiledSchema, resolvePointer, type SchemaIssue } from "./json-schema.ts";
import { matchesFormat } from "./json-schema-formats.ts";

export function validate(schema: CompiledSchema, document: Value, step: () => void): readonly SchemaIssue[] {
  return new Validator(schema, step).run(document);
}

interface Result {
  readonly issues: SchemaIssue[];
  /** How much of the schema was looked at and fitted; the best of several alternatives is reported. */
  score: number;
}

class Validator {
  readonly #schema: CompiledSchema;
  readonly #step: () => void;

  constructor(schema: CompiledSchema, step: () => void) {
    this.#schema = schema;
    this.#step = step;
  }

  run(document: Value): readonly SchemaIssue[] {
    const result: Result = { issues: [], score: 0 };
    this.#validate(this.#schema.root, document, "(Root)", result);
    return result.issues;
  }

  #validate(schema: Value, node: Value, path: string, result: Result): void {
    this.#step();
    const add = (type: string, description: string, at = path): void => {
      result.issues.push({ field: at === "(Root)" ? at : at.replace(/^\(Root\)\./, ""), type, description });
      result.score--;
    };
    if (schema === true) return;
    if (schema === false || !(schema instanceof RegoObject)) {
      add("false", "False always fails validation");
      return;
    }
    const reference = schema.field("$ref");
    if (typeof reference === "string") {
      const target = this.#resolve(reference);
      if (target !== undefined) this.#validate(target, node, path, result);
      return;
    }
    const types = listOf(schema.field("type"));
    if (types.length > 0 && !types.some((type) => hasType(node, String(type)))) {
      const given = isNumber(node) ? (integerOf(node) === undefined ? "number" : "integer") : typeName(node);
      add("invalid_type", `Invalid type. Expected: ${typesText(types)}, given: ${given}`);
      return;
    }
    this.#combinations(schema, node, path, result, add);
    if (isNumber(node)) this.#number(schema, node, add);
    if (isArray(node)) this.#array(schema, node, path, result, add);
    if (node instanceof RegoObject) this.#object(schema, node, path, result, add);
    this.#common(schema, node, path, add);
    if (typeof node === "string") this.#string(schema, node, add);
    if (node instanceof RegoObject) {
      const properties = schema.field("properties");
      if (properties instanceof RegoObject) {
        for (const [name, child] of properties.entries()) {
          const value = node.get(name);
          if (value !== undefined) this.#validate(child, value, `${path}.${String(name)}`, result);
        }
      }
    }
    result.score++;
  }

  #resolve(reference: string): Value | undefined {
    const [base = "", pointer] = reference.split("#");
    const root = base === "" ? this.#schema.root : this.#schema.byId.get(base);
    if (root === undefined) return undefined;
    if (pointer === undefined || pointer === "") return root;
    return resolvePointer(root, pointer) ?? this.#schema.byId.get(`#${pointer}`);
  }

  #try(schema: Value, node: Value, path: string): Result {
    const result: Result = { issues: [], score: 0 };
    this.#validate(schema, node, path, result);
    return result;
  }

  #combinations(schema: RegoObject, node: Value, path: string, result: Result, add: Add): void {
    const merge = (other: Result | undefined): void => {
      if (other === undefined) return;
      result.issues.push(...other.issues);
      result.score += other.score;
    };
    const alternatives = (name: string): readonly Result[] =>
      listOf(schema.field(name)).map((child) => this.#try(child, node, path));
    const best = (results: readonly Result[]): Result | undefined =>
      results.reduce<Result | undefined>(
        (top, next) => (top === undefined || next.score > top.score ? next : top),
        undefined,
      );
    const any = alternatives("anyOf");
    if (any.length > 0 && any.every(({ issues }) => issues.length > 0)) {
      add("number_any_of", "Must validate at least one schema (anyOf)");
      merge(best(any));
    }
    const one = alternatives("oneOf");
    const matched = one.filter(({ issues }) => issues.length === 0).length;
    if (one.length > 0 && matched !== 1) {
      add("number_one_of", "Must validate one and only one schema (oneOf)");
      if (matched === 0) merge(best(one));
    }
    const all = alternatives("allOf");
    for (const each of all) if (each.issues.length > 0) merge(each);
    if (all.some(({ issues }) => issues.length > 0)) add("number_all_of", "Must validate all the schemas (allOf)");
    const not = schema.field("not");
    if (not !== undefined && this.#try(not, node, path).issues.length === 0) {
      add("number_not", "Must not validate the schema (not)");
    }
    this.#dependencies(schema, node, path, result, add);
    const condition = schema.field("if");
    if (condition === undefined) return;
    const holds = this.#try(condition, node, path).issues.length === 0;
    const branch = schema.field(holds ? "then" : "else");
    const outcome = branch === undefined ? undefined : this.#try(branch, node, path);
    if (outcome === undefined || outcome.issues.length === 0) return;
    add(
      holds ? "condition_then" : "condition_else",
      holds ? 'Must validate "then" as "if" was valid' : 'Must validate "else" as "if" was not valid',
    );
    merge(outcome);
  }

  #dependencies(schema: RegoObject, node: Value, path: string, result: Result, add: Add): void {
    const dependencies = schema.field("dependencies");
    if (!(dependencies instanceof RegoObject) || !(node instanceof RegoObject)) return;
    for (const [name, needs] of dependencies.entries()) {
      if (!node.has(name)) continue;
      if (isArray(needs)) {
        for (const need of needs) {
          if (!node.has(need)) add("missing_dependency", `Has a dependency on ${String(need)}`);
        }
      } else this.#validate(needs, node, path, result);
    }
  }

  #common(schema: RegoObject, node: Value, path: string, add: Add): void {
    const field = path === "(Root)" ? path : path.replace(/^\(Root\)\./, "");
    const constant = schema.field("const");
    if (constant !== undefined && !equalValues(constant, node)) {
      add("const", `${field} does not match: ${toJsonText(constant)}`);
    }
    const choices = schema.field("enum");
    if (isArray(choices) && !choices.some((choice) => equalValues(choice, node))) {
      const allowed = choices.map((choice) => toJsonText(choice)).join(", ");
      add("enum", `${field} must be one of the following: ${allowed}`);
    }
  }

  #array(schema: RegoObject, node: readonly Value[], path: string, result: Result, add: Add): void {
    const items = schema.field("items");
    if (isArray(items)) {
      node.forEach((item, index) => {
        const child = items[index];
        if (child !== undefined) this.#validate(child, item, `${path}.${index}`, result);
      });
      const additional = schema.field("additionalItems");
      if (node.length > items.length && additional === false) {
        add("array_no_additional_items", "No additional items allowed on array");
      } else if (additional instanceof RegoObject) {
        node.slice(items.length).forEach((item, index) => {
          this.#validate(additional, item, `${path}.${items.length + index}`, result);
        });
      }
    } else if (items !== undefined) {
      node.forEach((item, index) => this.#validate(items, item, `${path}.${index}`, result));
    }
    const minimum = schema.field("minItems");
    if (isNumber(minimum) && compareNumbers(node.length, minimum) < 0) {
      add("array_min_items", `Array must have at least ${numberText(minimum)} items`);
    }
    const maximum = schema.field("maxItems");
    if (isNumber(maximum) && compareNumbers(node.length, maximum) > 0) {
      add("array_max_items", `Array must have at most ${numberText(maximum)} items`);
    }
    if (schema.field("uniqueItems") === true) this.#unique(node, add);
    const contains = schema.field("contains");
    if (contains === undefined || (node.length === 0 && contains === undefined)) return;
    if (!node.some((item, index) => this.#try(contains, item, `${path}.${index}`).issues.length === 0)) {
      add("contains", "At least one of the items must match");
    }
  }

  #unique(node: readonly Value[], add: Add): void {
    for (let second = 1; second < node.length; second++) {
      for (let first = 0; first < second; first++) {
        this.#step();
        if (!equalValues(node[first] ?? null, node[second] ?? null)) continue;
        add("unique", `array items[${first},${second}] must be unique`);
        return;
      }
    }
  }

  #object(schema: RegoObject, node: RegoObject, path: string, result: Result, add: Add): void {
    const minimum = schema.field("minProperties");
    if (isNumber(minimum) && compareNumbers(node.size, minimum) < 0) {
      add("array_min_properties", `Must have at least ${numberText(minimum)} properties`);
    }
    const maximum = schema.field("maxProperties");
    if (isNumber(maximum) && compareNumbers(node.size, maximum) > 0) {
      add("array_max_properties", `Must have at most ${numberText(maximum)} properties`);
    }
    for (const name of listOf(schema.field("required"))) {
      if (!node.has(name)) add("required", `${String(name)} is required`);
    }
    this.#extraProperties(schema, node, path, result, add);
    const names = schema.field("propertyNames");
    if (names === undefined) return;
    for (const name of node.keys()) {
      const outcome = this.#try(names, name, path);
      if (outcome.issues.length === 0) continue;
      add("invalid_property_name", `Property name of "${String(name)}" does not match`);
      result.issues.push(...outcome.issues);
    }
  }

  #extraProperties(schema: RegoObject, node: RegoObject, path: string, result: Result, add: Add): void {
    const properties = schema.field("properties");
    const patterns = schema.field("patternProperties");
    const additional = schema.field("additionalProperties");
    for (const [name, value] of node.entries()) {
      const key = String(name);
      let isMatched = properties instanceof RegoObject && properties.has(name);
      if (patterns instanceof RegoObject) {
        for (const [pattern, child] of patterns.entries()) {
          if (typeof pattern !== "string" || !this.#matches(pattern, key)) continue;
          isMatched = true;
          this.#validate(child, value, `${path}.${key}`, result);
        }
      }
      if (isMatched || additional === undefined || additional === true) continue;
      if (additional === false) {
        add("additional_property_not_allowed", `Additional property ${key} is not allowed`);
      } else this.#validate(additional, value, `${path}.${key}`, result);
    }
  }

  #matches(pattern: string, text: string): boolean {
    return this.#schema.patterns.get(pattern)?.matcher(text).find() ?? false;
  }

  #string(schema: RegoObject, node: string, add: Add): void {
    const length = [...node].length;
    const minimum = schema.field("minLength");
    if (isNumber(minimum) && compareNumbers(length, minimum) < 0) {
      add("string_gte", `String length must be greater than or equal to ${numberText(minimum)}`);
    }
    const maximum = schema.field("maxLength");
    if (isNumber(maximum) && compareNumbers(length, maximum) > 0) {
      add("string_lte", `String length must be less than or equal to ${numberText(maximum)}`);
    }
    const pattern = schema.field("pattern");
    if (typeof pattern === "string" && !this.#matches(pattern, node)) {
      add("pattern", `Does not match pattern '${pattern}'`);
    }
    const format = schema.field("format");
    if (typeof format === "string" && !matchesFormat(format, node)) {
      add("format", `Does not match format '${format}'`);
    }
  }

  #number(schema: RegoObject, node: number | Decimal, add: Add): void {
    const multiple = schema.field("multipleOf");
    if (isNumber(multiple) && !isMultiple(node, multiple)) {
      add("multiple_of", `Must be a multiple of ${numberText(multiple)}`);
    }
    const minimum = schema.field("minimum");
    const maximum = schema.field("maximum");
    const above = schema.field("exclusiveMinimum");
    const below = schema.field("exclusiveMaximum");
    if (isNumber(minimum)) {
      const order = compareValues(node, minimum);
      if (above === true ? order <= 0 : order < 0) {
        if (above === true) add("number_gt", `Must be greater than ${numberText(minimum)}`);
        else add("number_gte", `Must be greater than or equal to ${numberText(minimum)}`);
      }
    }
    if (isNumber(above) && compareValues(node, above) <= 0)
      add("number_gt", `Must be greater than ${numberText(above)}`);
    if (isNumber(maximum)) {
      const order = compareValues(node, maximum);
      if (below === true ? order >= 0 : order > 0) {
        if (below === true) add("number_lt", `Must be less than ${numberText(maximum)}`);
        else add("number_lte", `Must be less than or equal to ${numberText(maximum)}`);
      }
    }
    if (isNumber(below) && compareValues(node, below) >= 0) add("number_lt", `Must be less than ${numberText(below)}`);
  }
}

type Add = (type: string, description: string) => void;

function listOf(value: Value | undefined): readonly Value[] {
  if (value === undefined) return [];
  return isArray(value) ? value : [value];
}

function hasType(node: Value, type: string): boolean {
  if (type === "integer") return isNumber(node) && integerOf(node) !== undefined;
  return typeName(node) === type;
}

function typesText(types: readonly Value[]): string {
  return types.length === 1 ? String(types[0]) : `[${types.map(String).join(",")}]`;
}

/** Exact: both numbers are scaled to integers. */
function isMultiple(value: number | Decimal, factor: number | Decimal): boolean {
  const a = partsOf(value);
  const b = partsOf(factor);
  const shift = Math.min(a.exponent, b.exponent);
  if (a.exponent - shift > 5000 || b.exponent - shift > 5000) return false;
  const scaled = a.digits * 10n ** BigInt(a.exponent - shift);
  const unit = b.digits * 10n ** BigInt(b.exponent - shift);
  return unit !== 0n && scaled % unit === 0n;
}
