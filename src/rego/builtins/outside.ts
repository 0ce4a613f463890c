/** What reaches outside the policy: printing, tracing, the runtime, and template strings. */
import { BuiltinFault, RegoError } from "../evaluate/errors.ts";
import { noLocation } from "../syntax/ast.ts";
import { formatValue } from "../values/format.ts";
import { RegoObject, RegoSet, type Value } from "../values/value.ts";
import { arrayAt, type Builtins, stringAt } from "./operands.ts";

export const outsideBuiltins: Builtins = {
  "internal.print": (args, machine) => {
    if (machine.print === undefined) return true;
    for (const line of combinations(arrayAt(args, 0))) machine.print(line.join(" "), machine.location ?? noLocation);
    return true;
  },
  print: () => true,
  "internal.template_string": (args, machine) => {
    const lines = combinations(arrayAt(args, 0));
    if (lines.length > 1) {
      throw new RegoError(
        "eval_conflict_error",
        "template-strings must not produce multiple outputs",
        machine.location,
      );
    }
    return lines[0]?.join("") ?? "";
  },
  "internal.test_case": () => true,
  trace: (args, machine) => {
    machine.trace?.(stringAt(args, 0), machine.location ?? noLocation);
    return true;
  },
  "opa.runtime": (_, machine) => machine.env.runtime ?? new RegoObject(),
  "rego.metadata.chain": onlyInRules("rego.metadata.chain"),
  "rego.metadata.rule": onlyInRules("rego.metadata.rule"),
};

function onlyInRules(name: string): () => Value {
  return () => {
    throw new BuiltinFault(`the ${name} function must only be called within the scope of a rule`);
  };
}

/** Every operand is a set of the values that an expression had: none means that it is undefined. */
function combinations(operands: readonly Value[]): readonly (readonly string[])[] {
  let lines: (readonly string[])[] = [[]];
  for (const operand of operands) {
    const texts =
      operand instanceof RegoSet
        ? operand.size === 0
          ? ["<undefined>"]
          : operand.items().map(plainText)
        : [plainText(operand)];
    lines = lines.flatMap((line) => texts.map((text) => [...line, text]));
  }
  return lines;
}

function plainText(value: Value): string {
  return typeof value === "string" ? value : formatValue(value);
}
