/** Plans for `with`: the expression runs with other documents or functions; what follows it runs with the old ones. */
import type { Term, With } from "../syntax/ast.ts";
import { stringPath } from "../syntax/ast.ts";
import { RegoObject, type Value } from "../values/value.ts";
import { functionName } from "./calls.ts";
import { RegoError } from "./errors.ts";
import type { Bound, Exec, Getter, PlanContext } from "./frame.ts";
import type { Machine, Mock } from "./machine.ts";
import { constantValue, planGetter } from "./terms.ts";

/** Changes the machine; undefined values make the expression undefined. */
type Replacement = (machine: Machine, value: Value) => void;

export function planWith(
  withs: readonly With[],
  bound: Bound,
  next: Exec,
  plan: PlanContext,
  planInner: (next: Exec) => Exec,
): Exec {
  const { machine } = plan;
  const steps = withs.map((modifier) => planReplacement(modifier, bound, plan));
  const inner = planInner((frame) => {
    const inside = save(machine);
    restore(machine, outsides.at(-1) ?? inside);
    const outside = outsides.pop();
    const isDone = next(frame);
    if (outside !== undefined) outsides.push(outside);
    restore(machine, inside);
    return isDone;
  });
  /** The states to return to, innermost last. */
  const outsides: Saved[] = [];
  return (frame) => {
    const values: Value[] = [];
    for (const [getter] of steps) {
      const value = getter(frame);
      if (value === undefined) return false;
      values.push(value);
    }
    const outside = save(machine);
    outsides.push(outside);
    machine.memo = [];
    steps.forEach(([, replace], index) => {
      replace(machine, values[index] ?? null);
    });
    try {
      return inner(frame);
    } finally {
      outsides.pop();
      restore(machine, outside);
    }
  };
}

export type Saved = Pick<Machine, "input" | "data" | "memo" | "overrides" | "mocks">;

export function save(machine: Machine): Saved {
  const { input, data, memo, overrides, mocks } = machine;
  return { input, data, memo, overrides, mocks };
}

export function restore(machine: Machine, saved: Saved): void {
  machine.input = saved.input;
  machine.data = saved.data;
  machine.memo = saved.memo;
  machine.overrides = saved.overrides;
  machine.mocks = saved.mocks;
}

function planReplacement(modifier: With, bound: Bound, plan: PlanContext): readonly [Getter, Replacement] {
  const { target } = modifier;
  const [head, ...rest] = target.parts;
  const name = functionName(target);
  if (modifier.mock !== undefined) return planMock(name, modifier.mock, plan);
  const getter = planGetter(modifier.value, bound, plan);
  const root = head?.kind === "var" ? head.name : "";
  if (root !== "input" && root !== "data") {
    return [getter, (machine, value) => setMock(machine, name, { kind: "value", value })];
  }
  if (plan.program.functions.has(name)) {
    return [getter, (machine, value) => setMock(machine, name, { kind: "value", value })];
  }
  const keys = rest.map((part) => constantValue(part) ?? null);
  if (root === "input") {
    return [
      getter,
      (machine, value) => {
        machine.input = replaceAt(machine.input, keys, value, undefined);
      },
    ];
  }
  const path = stringPath(rest);
  return [
    getter,
    (machine, value) => {
      machine.data = replaceAt(machine.data, keys, value, target);
      machine.overrides = [...(machine.overrides ?? []), path];
    },
  ];
}

function planMock(name: string, replacement: string, plan: PlanContext): readonly [Getter, Replacement] {
  const group = plan.program.functions.get(replacement);
  const path = replacement.startsWith("data.") ? replacement.split(".").slice(1) : undefined;
  const mock: Mock =
    group !== undefined
      ? { kind: "function", group }
      : path === undefined
        ? { kind: "builtin", name: replacement }
        : { kind: "document", path };
  return [() => true, (machine) => setMock(machine, name, mock)];
}

function setMock(machine: Machine, name: string, mock: Mock): void {
  machine.mocks = new Map([...(machine.mocks ?? []), [name, mock]]);
}

/** A copy of the document with another value at a path. */
function replaceAt(document: Value | undefined, keys: readonly Value[], value: Value, target: Term | undefined): Value {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  const object = document instanceof RegoObject ? document : undefined;
  if (document !== undefined && object === undefined && target !== undefined) {
    throw new RegoError("eval_with_merge_error", "real and replacement data could not be merged", target.loc);
  }
  const copy = object === undefined ? new RegoObject() : object.copy();
  copy.set(key, replaceAt(object?.get(key), rest, value, target));
  return copy;
}
