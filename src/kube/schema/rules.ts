import { celCallLimit } from "../cel/compile.ts";
import { dataToCel } from "../cel/data.ts";
import { declaredType } from "../cel/declared-type.ts";
import { type CelValue, none, Optional } from "../cel/value.ts";
import { type FieldError, formatFieldError, invalid } from "../field-error.ts";
import { childPath, indexPath, keyPath } from "../field-path.ts";
import { goQuote, utf8Length } from "../go-text.ts";
import { type Correlation, itemKey, itemsByKey } from "./correlation.ts";
import { isMembers } from "./resolve.ts";
import { type CompiledRule, compileNode, hasRules, type RuleNode } from "./rule-compile.ts";
import type { Definitions, Schema, ValidationRule } from "./schema.ts";

/** The CEL rules of a schema (`x-kubernetes-validations`), compiled once and held against objects. */
export interface CompiledRules {
  validate(
    value: unknown,
    old: unknown,
    correlation: Correlation | undefined,
    onWarning?: (warning: string) => void,
  ): readonly FieldError[];
}

/** What all rules of one object may cost together: about a second on a real server. */
export const rulesCostBudget = 10_000_000;

/** Longer messages are replaced by the rule's own. */
const messageMaxBytes = 5 * 1024;

/** Undefined when the schema has no rules at all. */
export function compileRules(schema: Schema, definitions: Definitions): CompiledRules | undefined {
  if (!hasRules(schema, definitions, new Set())) return undefined;
  const root = compileNode(schema, schema, declaredType(schema, definitions, true), definitions, true);
  return {
    validate(value, old, correlation, onWarning) {
      const state = new RuleRun(definitions, onWarning);
      if (root !== undefined) state.visit(root, "", value, old, { current: correlation, parent: undefined });
      return state.errors;
    },
  };
}

/** Where a value stands beside its old one: itself, or the nearest thing around it that has an old one. */
interface Place {
  readonly current: Correlation | undefined;
  readonly parent: Correlation | undefined;
}

/** One pass over an object; ends early when the budget is spent. */
class RuleRun {
  readonly errors: FieldError[] = [];
  readonly #definitions: Definitions;
  readonly #onWarning: ((warning: string) => void) | undefined;
  #budget = rulesCostBudget;
  #isOver = false;

  constructor(definitions: Definitions, onWarning: ((warning: string) => void) | undefined) {
    this.#definitions = definitions;
    this.#onWarning = onWarning;
  }

  visit(node: RuleNode, path: string, value: unknown, old: unknown, place: Place): void {
    if (this.#isOver || value === null || value === undefined) return;
    this.#runRules(node, path, value, old, place);
    for (const part of node.allOf) {
      if (this.#isOver) return;
      this.visit(part, path, value, old, { current: undefined, parent: place.parent });
    }
    if (Array.isArray(value)) this.#visitItems(node, path, value, old, place);
    else if (isMembers(value)) this.#visitMembers(node, path, value, old, place);
  }

  #visitItems(node: RuleNode, path: string, list: readonly unknown[], old: unknown, place: Place): void {
    if (node.items === undefined) return;
    const keys = node.schema["x-kubernetes-list-map-keys"] ?? [];
    const isMap = node.schema["x-kubernetes-list-type"] === "map" && Array.isArray(old);
    const oldItems = isMap ? itemsByKey(old, keys) : undefined;
    for (const [index, item] of list.entries()) {
      const identity = oldItems && itemKey(item, keys);
      const before = identity === undefined ? undefined : oldItems?.get(identity);
      this.visit(node.items, indexPath(path, index), item, before, below(place, place.current?.index(index)));
    }
  }

  #visitMembers(
    node: RuleNode,
    path: string,
    object: Readonly<Record<string, unknown>>,
    old: unknown,
    place: Place,
  ): void {
    if (node.values === undefined && node.properties.size === 0) return;
    const before = isMembers(old) ? old : {};
    const at = (name: string): Place => {
      // The API version and kind of a resource are the same on both sides by the time that rules run.
      if (place.parent === undefined && (name === "apiVersion" || name === "kind"))
        return { current: undefined, parent: undefined };
      return below(place, place.current?.key(name));
    };
    for (const name of Object.keys(object)) {
      if (node.values !== undefined) this.visit(node.values, keyPath(path, name), object[name], before[name], at(name));
      const property = node.properties.get(name);
      if (property !== undefined) this.visit(property, childPath(path, name), object[name], before[name], at(name));
    }
  }

  #runRules(node: RuleNode, path: string, value: unknown, old: unknown, place: Place): void {
    const type = node.schema.type ?? "";
    const field = path === "" ? "<nil>" : path;
    if (node.problem !== undefined) {
      this.errors.push(invalid(field, type, `rule compiler initialization error: ${node.problem}`));
      return;
    }
    if (node.rules.length === 0) return;
    if (this.#budget <= 0) {
      this.errors.push(
        invalid(
          field,
          type,
          "validation failed due to running out of cost budget, no further validation rules will be run",
        ),
      );
      this.#isOver = true;
      return;
    }
    const self = dataToCel(value, node.schema, this.#definitions);
    const hasOld = old !== undefined && old !== null;
    const oldSelf = hasOld ? dataToCel(old, node.schema, this.#definitions) : undefined;
    for (const compiled of node.rules) {
      if (this.#isOver) return;
      const optionalOld = compiled.rule.optionalOldSelf === true;
      // A transition rule needs something to compare with, unless it asks for it as an option.
      if (compiled.usesOldSelf && !hasOld && !optionalOld) continue;
      const previous = optionalOld ? (oldSelf === undefined ? none : new Optional(oldSelf)) : oldSelf;
      this.#runRule(
        compiled,
        { path, field, type, value, place },
        { self, ...(previous !== undefined && { oldSelf: previous }) },
      );
    }
  }

  #runRule(compiled: CompiledRule, at: RulePlace, values: Readonly<Record<string, CelValue>>): void {
    const { rule } = compiled;
    if (compiled.compileError !== undefined) {
      this.errors.push(invalid(at.field, at.type, `rule compile error: ${compiled.compileError}`));
      return;
    }
    if (compiled.program === undefined) return;
    const result = compiled.program.evaluate(values, { costLimit: celCallLimit });
    if (result.cost > this.#budget) {
      this.errors.push(
        invalid(
          at.field,
          at.type,
          "validation failed due to running out of cost budget, no further validation rules will be run",
        ),
      );
      this.#isOver = true;
      return;
    }
    this.#budget -= result.cost;
    if (!result.ok) {
      this.#ruleFailed(rule, at, result);
      return;
    }
    if (result.value === true) return;
    const detail = this.#messageOf(compiled, at, values);
    if (detail !== undefined) this.#report(compiled, at, failure(compiled, at, detail));
  }

  #ruleFailed(
    rule: ValidationRule,
    at: RulePlace,
    { reason, message }: { readonly reason: string; readonly message: string },
  ): void {
    const shown = shownRule(rule);
    if (reason === "CostExceeded") {
      this.errors.push(
        invalid(
          at.field,
          at.type,
          `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
        ),
      );
      this.#isOver = true;
    } else if (message.startsWith("no such overload")) {
      this.errors.push(
        invalid(
          at.field,
          at.type,
          `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`,
        ),
      );
    } else this.errors.push(invalid(at.field, at.type, `${message} evaluating rule: ${shown}`));
  }

  /** The computed message if it can be used, otherwise the written one; undefined when the budget ended here. */
  #messageOf(compiled: CompiledRule, at: RulePlace, values: Readonly<Record<string, CelValue>>): string | undefined {
    const { rule, message } = compiled;
    const written = rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`;
    if (message === undefined) return written;
    const result = message.evaluate(values, { costLimit: celCallLimit });
    const isTooExpensive = result.cost > this.#budget;
    if (isTooExpensive || (!result.ok && result.reason === "CostExceeded")) {
      const detail = isTooExpensive
        ? "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"
        : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(message.source)}`;
      this.#report(compiled, at, invalid(fieldOf(compiled, at), at.type, detail));
      this.#isOver = true;
      return undefined;
    }
    this.#budget -= result.cost;
    const text = result.ok && typeof result.value === "string" ? result.value.trim() : "";
    return text === "" || text.includes("\n") || utf8Length(text) > messageMaxBytes ? written : text;
  }

  /** What was wrong before and has not changed is only worth a warning. */
  #report(compiled: CompiledRule, { place }: RulePlace, error: FieldError): void {
    const isUnchanged = !compiled.usesOldSelf && (place.current ?? place.parent)?.isUnchanged() === true;
    if (isUnchanged) this.#onWarning?.(formatFieldError(error));
    else this.errors.push(error);
  }
}

interface RulePlace {
  readonly path: string;
  readonly field: string;
  readonly type: string;
  readonly value: unknown;
  readonly place: Place;
}

const below = (place: Place, current: Correlation | undefined): Place =>
  place.current === undefined ? place : { current, parent: place.current };

const shownRule = (rule: ValidationRule): string => (rule.message ? rule.message : rule.rule).trim();

const fieldOf = ({ fieldPath }: CompiledRule, { path, field }: RulePlace): string =>
  fieldPath === "" ? field : childPath(path, fieldPath);

function failure(compiled: CompiledRule, at: RulePlace, detail: string): FieldError {
  const field = fieldOf(compiled, at);
  // Objects and lists are not repeated in the answer.
  const shown = at.type === "object" || at.type === "array" ? {} : { value: at.value };
  switch (compiled.rule.reason) {
    case "FieldValueForbidden":
      return { type: "Forbidden", field, detail };
    case "FieldValueRequired":
      return { type: "Required", field, detail };
    case "FieldValueDuplicate":
      return { type: "Duplicate", field, ...shown, detail: "" };
    default:
      return { type: "Invalid", field, ...shown, detail };
  }
}
