/** Answers as text, in the formats of `opa eval`. */
import type { EvalFormat } from "./commands.ts";
import type { CoverageReport } from "./coverage.ts";
import type { QueryResult } from "./prepare.ts";
import { formatTable } from "./table.ts";
import { toIndentedJson, toJsonText } from "./values/json.ts";
import { RegoObject, type Value } from "./values/value.ts";

/** What `opa eval` prints; errors are not part of it. */
export function showAnswers(
  answers: readonly QueryResult[],
  format: EvalFormat,
  trace: string,
  coverage: CoverageReport | undefined,
): string {
  switch (format) {
    case "discard":
      return answers.length === 0 ? "{}\n" : `${block("{", [`"result": "discarded"`], "}", 0)}\n`;
    case "json": {
      const extra: string[] = [];
      if (trace !== "") extra.push(`"explanation": ${indented(trace.trimEnd().split("\n"), 1)}`);
      if (coverage !== undefined) {
        extra.push(`"coverage": ${JSON.stringify(coverage, undefined, 2).replaceAll("\n", "\n  ")}`);
      }
      return `${answersJson(answers, extra)}\n`;
    }
    case "raw":
      return (
        trace + answers.map((answer) => `${answer.expressions.map(({ value }) => rawText(value)).join(" ")}\n`).join("")
      );
    case "values":
      return (
        trace +
        answers
          .map(
            (answer) =>
              `${toIndentedJson(
                answer.expressions.map(({ value }) => value),
                "  ",
              )}\n`,
          )
          .join("")
      );
    case "bindings":
      return (
        trace + answers.map((answer) => `${toIndentedJson(RegoObject.fromEntries(answer.values), "  ")}\n`).join("")
      );
    case "pretty":
      return trace + prettyAnswers(answers) + prettyCoverage(coverage);
  }
}

function prettyAnswers(answers: readonly QueryResult[]): string {
  const [first] = answers;
  if (first === undefined) return "undefined\n";
  const isBoolean = (index: number): boolean => typeof first.expressions[index]?.value === "boolean";
  if (answers.length === 1 && first.values.size === 0) {
    if (first.expressions.length === 1 || first.expressions.every((_, index) => isBoolean(index)))
      return `${toIndentedJson(first.expressions[0]?.value ?? null, "  ", "", true)}\n`;
  }
  const names = [...first.values.keys()].sort();
  // Beside variables, an expression that is only true or false says nothing.
  const shown = first.expressions
    .map(({ location }, index) => ({ text: location.text, index }))
    .filter(({ index }) => names.length === 0 || !isBoolean(index));
  const header = [...shown.map(({ text }) => text), ...names];
  const text = (value: Value | undefined): string => toJsonText(value ?? null, { escapeHtml: true });
  const rows = answers.map((answer) => [
    ...shown.map(({ index }) => text(answer.expressions[index]?.value)),
    ...names.map((name) => text(answer.values.get(name))),
  ]);
  return formatTable(header, rows);
}

function prettyCoverage(coverage: CoverageReport | undefined): string {
  return coverage === undefined ? "" : formatTable(undefined, [["Overall Coverage", coverage.coverage.toFixed(2)]]);
}

/** The result as `opa eval` prints it: the fields stand in the order in which OPA has them, not in that of their names. */
function answersJson(answers: readonly QueryResult[], extra: readonly string[]): string {
  const fields = [...extra];
  if (answers.length > 0)
    fields.unshift(
      `"result": ${list(
        answers.map((answer) => answerJson(answer)),
        1,
      )}`,
    );
  return fields.length === 0 ? "{}" : block("{", fields, "}", 0);
}

function answerJson(answer: QueryResult): string {
  const expressions = answer.expressions.map(({ value, location }) =>
    block(
      "{",
      [
        `"value": ${indented(value, 5)}`,
        `"text": ${toJsonText(location.text, { escapeHtml: true })}`,
        `"location": ${block("{", [`"row": ${location.row}`, `"col": ${location.col}`], "}", 5)}`,
      ],
      "}",
      4,
    ),
  );
  const fields = [`"expressions": ${list(expressions, 3)}`];
  if (answer.values.size > 0) fields.push(`"bindings": ${indented(RegoObject.fromEntries(answer.values), 3)}`);
  return block("{", fields, "}", 2);
}

const list = (items: readonly string[], depth: number): string => block("[", items, "]", depth);

function block(open: string, items: readonly string[], close: string, depth: number): string {
  const line = `\n${"  ".repeat(depth + 1)}`;
  return `${open}${line}${items.join(`,${line}`)}\n${"  ".repeat(depth)}${close}`;
}

function indented(value: Value, depth: number): string {
  return toIndentedJson(value, "  ", "  ".repeat(depth), true);
}

function rawText(value: Value): string {
  return typeof value === "string" ? value : toJsonText(value);
}
