import { formatType } from "../../kube/cel/type.ts";
import { type FieldError, invalid } from "../../kube/field-error.ts";
import { compileExpression, type ExpressionNames } from "./policy-expressions.ts";
import type { Policy } from "./policy-objects.ts";

/** What is wrong with the expressions of a policy, told when it is written and not when it first refuses somebody. */
export function policyErrors({ spec }: Policy): readonly FieldError[] {
  const params = spec.paramKind !== undefined;
  const names: ExpressionNames = { params, authorizer: true };
  const withVariables = { ...names, variables: true };
  return [
    ...(spec.matchConditions ?? []).flatMap(({ expression }, index) =>
      expressionErrors(`spec.matchConditions[${index}].expression`, expression, names, "bool"),
    ),
    ...(spec.variables ?? []).flatMap(({ expression }, index) =>
      expressionErrors(`spec.variables[${index}].expression`, expression, withVariables),
    ),
    ...(spec.validations ?? []).flatMap(({ expression, messageExpression }, index) => [
      ...expressionErrors(`spec.validations[${index}].expression`, expression, withVariables, "bool"),
      ...(messageExpression
        ? expressionErrors(
            `spec.validations[${index}].messageExpression`,
            messageExpression,
            { params, variables: true },
            "string",
          )
        : []),
    ]),
    ...(spec.auditAnnotations ?? []).flatMap(({ valueExpression }, index) =>
      expressionErrors(
        `spec.auditAnnotations[${index}].valueExpression`,
        valueExpression,
        withVariables,
        "string",
        "null_type",
      ),
    ),
  ];
}

export function expressionErrors(
  path: string,
  expression: string,
  names: ExpressionNames,
  ...wanted: readonly ("bool" | "string" | "null_type")[]
): readonly FieldError[] {
  if (expression.trim() === "") return [];
  const compiled = compileExpression(expression, names);
  if (!compiled.ok) return [invalid(path, expression, `compilation failed: ${compiled.message}`)];
  const type = formatType(compiled.program.type);
  const given = type === "null" ? "null_type" : type;
  if (wanted.length === 0 || given === "dyn" || wanted.some((one) => one === given)) return [];
  const expected = wanted.length === 1 ? wanted[0] : `one of [${wanted.join(" ")}]`;
  return [invalid(path, expression, `must evaluate to ${expected} but got ${given}`)];
}
