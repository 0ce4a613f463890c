/** Plans for calls of built-ins and of functions that rules define. */
import { type Builtin, builtins, relations } from "../builtins/registry.ts";
import { signatures } from "../builtins/signatures.ts";
import type { Expr, Location, RefTerm } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { printRef } from "../syntax/print.ts";
import { ArithmeticFault } from "../values/arithmetic.ts";
import type { Value } from "../values/value.ts";
import { planHandOn } from "./deferred-conflicts.ts";
import { BuiltinFault, RegoError } from "./errors.ts";
import { Bindings, type Bound, type Exec, type Getter, type Matcher, type PlanContext } from "./frame.ts";
import type { Machine, Mock } from "./machine.ts";
import { planGetter, planMatcher } from "./terms.ts";

type CallExpr = Expr & { readonly kind: "expr-call" };

export function planCall(expr: CallExpr, bound: Bound, next: Exec, plan: PlanContext): Exec {
  const name = functionName(expr.operator);
  const group = plan.program.functions.get(name);
  const signature = group === undefined ? signatures.get(name) : undefined;
  const custom = group === undefined ? plan.customBuiltins?.get(name) : undefined;
  const inputs =
    group?.arity ??
    custom?.arity ??
    (signature?.operands.at(-1)?.startsWith("...") ? expr.args.length : signature?.operands.length);
  if (inputs === undefined) throw new TypeError(`undefined function ${name}`);
  const getters = expr.args.slice(0, inputs).map((arg) => planGetter(arg, bound, plan));
  const output = expr.args[inputs];
  const matcher = output === undefined ? undefined : planMatcher(output, new Bindings(bound), plan);
  const { machine, evaluator } = plan;
  if (group !== undefined) {
    const { id } = group;
    const call = planOperands(getters, (args) => {
      const mock = machine.mocks?.get(name);
      return mock === undefined ? evaluator.callFunction(id, args) : callMock(mock, args, expr.loc, plan);
    });
    return finish(call, matcher, next, plan);
  }
  const relation = relations.get(name);
  if (relation !== undefined) {
    return (frame) => {
      const args = operands(getters, frame);
      if (args === undefined) return false;
      machine.location = expr.loc;
      return relation(machine, args, (value) => {
        machine.step();
        return (matcher === undefined ? value !== false : matcher(frame, value)) && next(frame);
      });
    };
  }
  const builtin = custom?.call ?? builtins.get(name);
  if (builtin === undefined) throw new TypeError(`built-in ${name} is not implemented`);
  const call = planOperands(getters, (args) => {
    const mock = machine.mocks?.get(name);
    return mock === undefined
      ? callBuiltin(builtin, name, args, expr.loc, machine)
      : callMock(mock, args, expr.loc, plan);
  });
  return finish(call, matcher, next, plan);
}

/** The name under which functions are found: a built-in's own, or `data.pkg.f`. */
export function functionName(operator: RefTerm): string {
  return operatorName(operator) ?? printRef(operator);
}

function finish(call: Getter, matcher: Matcher | undefined, next: Exec, { deferred }: PlanContext): Exec {
  if (deferred !== undefined) {
    const matches = matcher ?? ((_, value) => value !== false);
    return planHandOn(call, (frame, value) => matches(frame, value) && next(frame), deferred);
  }
  if (matcher === undefined) {
    return (frame) => {
      const value = call(frame);
      return value !== undefined && value !== false && next(frame);
    };
  }
  return (frame) => {
    const value = call(frame);
    return value !== undefined && matcher(frame, value) && next(frame);
  };
}

function planOperands(getters: readonly Getter[], call: (args: readonly Value[]) => Value | undefined): Getter {
  return (frame) => {
    const args = operands(getters, frame);
    return args === undefined ? undefined : call(args);
  };
}

function operands(getters: readonly Getter[], frame: (Value | undefined)[]): readonly Value[] | undefined {
  const args: Value[] = new Array(getters.length);
  for (let index = 0; index < getters.length; index++) {
    const value = getters[index]?.(frame);
    if (value === undefined) return undefined;
    args[index] = value;
  }
  return args;
}

export function callBuiltin(
  builtin: Builtin,
  name: string,
  args: readonly Value[],
  location: Location,
  machine: Machine,
): Value | undefined {
  machine.step();
  machine.location = location;
  try {
    return builtin(args, machine);
  } catch (error) {
    if (!(error instanceof BuiltinFault) && !(error instanceof ArithmeticFault)) throw error;
    const code = error instanceof BuiltinFault ? error.code : "eval_builtin_error";
    const message = `${name}: ${error.message}`;
    if (machine.strictBuiltinErrors || (error instanceof BuiltinFault && error.halts)) {
      throw new RegoError(code, message, location);
    }
    machine.builtinErrors.push({ code, message, location });
    return undefined;
  }
}

function callMock(mock: Mock, args: readonly Value[], location: Location, plan: PlanContext): Value | undefined {
  switch (mock.kind) {
    case "value":
      return mock.value;
    case "function": {
      // Inside a replacement every function is itself again; otherwise it could never call the original.
      const { machine } = plan;
      const { mocks, memo } = machine;
      machine.mocks = undefined;
      machine.memo = [];
      const value = plan.evaluator.callFunction(mock.group.id, args);
      machine.mocks = mocks;
      machine.memo = memo;
      return value;
    }
    case "document":
      return plan.evaluator.extent(mock.path);
    case "builtin": {
      const builtin = plan.customBuiltins?.get(mock.name)?.call ?? builtins.get(mock.name);
      return builtin === undefined ? undefined : callBuiltin(builtin, mock.name, args, location, plan.machine);
    }
  }
}
