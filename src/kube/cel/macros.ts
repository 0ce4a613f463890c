import { type ComprehensionExpr, type Expr, hiddenAccumulator, type LiteralValue } from "./ast.ts";
import { CelSyntaxError } from "./issue.ts";

/** The macros: calls that are rewritten before anything is checked, because they introduce names. */
export function expandMacro(
  name: string,
  at: number,
  target: Expr | undefined,
  args: readonly Expr[],
): Expr | undefined {
  if (target === undefined) return name === "has" && args.length === 1 ? has(at, args[0] as Expr) : undefined;
  return macros.get(`${name}/${args.length}`)?.({ at, target, args });
}

interface Use {
  readonly at: number;
  readonly target: Expr;
  readonly args: readonly Expr[];
}
type Macro = (use: Use) => Expr;

const macros: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ["all/2", (use) => quantifier("all", use, 1)],
  ["exists/2", (use) => quantifier("exists", use, 1)],
  ["exists_one/2", (use) => quantifier("one", use, 1)],
  ["all/3", (use) => quantifier("all", use, 2)],
  ["exists/3", (use) => quantifier("exists", use, 2)],
  ["exists_one/3", (use) => quantifier("one", use, 2)],
  ["existsOne/3", (use) => quantifier("one", use, 2)],
  ["map/2", (use) => collect(use, 1, [], undefined, use.args[1])],
  ["map/3", (use) => collect(use, 1, [], use.args[1], use.args[2])],
  ["filter/2", (use) => collect(use, 1, [], use.args[1], use.args[0])],
  ["transformList/3", (use) => collect(use, 2, [], undefined, use.args[2])],
  ["transformList/4", (use) => collect(use, 2, [], use.args[2], use.args[3])],
  ["transformMap/3", (use) => insert(use, undefined, use.args[2], true)],
  ["transformMap/4", (use) => insert(use, use.args[2], use.args[3], true)],
  ["transformMapEntry/3", (use) => insert(use, undefined, use.args[2], false)],
  ["transformMapEntry/4", (use) => insert(use, use.args[2], use.args[3], false)],
  ["optMap/2", (use) => whenPresent(use, (inner) => call(use.at, "optional.of", inner), "optMap")],
  ["optFlatMap/2", (use) => whenPresent(use, (inner) => inner, "optFlatMap")],
  ["sortBy/2", sortBy],
]);

function has(at: number, argument: Expr): Expr {
  if (argument.kind !== "select") throw new CelSyntaxError(argument.at, "invalid argument to has() macro");
  return { kind: "select", at, operand: argument.operand, field: argument.field, testOnly: true };
}

function quantifier(kind: "all" | "exists" | "one", use: Use, variables: 1 | 2): Expr {
  const { at } = use;
  const predicate = use.args[variables] as Expr;
  const names = iterationVariables(use, variables, "argument must be a simple name");
  // Every place gets a node of its own, because sizes are remembered by node.
  const accu = (): Expr => ident(at, hiddenAccumulator);
  if (kind === "all") {
    return loop(use, names, {
      init: literal(at, true),
      condition: call(at, "@not_strictly_false", accu()),
      step: call(at, "_&&_", accu(), predicate),
      result: accu(),
    });
  }
  if (kind === "exists") {
    return loop(use, names, {
      init: literal(at, false),
      condition: call(at, "@not_strictly_false", call(at, "!_", accu())),
      step: call(at, "_||_", accu(), predicate),
      result: accu(),
    });
  }
  return loop(use, names, {
    init: literal(at, 0n),
    condition: literal(at, true),
    step: call(at, "_?_:_", predicate, call(at, "_+_", accu(), literal(at, 1n)), accu()),
    result: call(at, "_==_", accu(), literal(at, 1n)),
  });
}

function collect(
  use: Use,
  variables: 1 | 2,
  empty: readonly Expr[],
  filter: Expr | undefined,
  item: Expr | undefined,
): Expr {
  const { at } = use;
  const names = iterationVariables(
    use,
    variables,
    variables === 1 ? "argument is not an identifier" : "argument must be a simple name",
  );
  const accu = (): Expr => ident(at, hiddenAccumulator);
  const appended = call(at, "_+_", accu(), list(at, [item as Expr]));
  return loop(use, names, {
    init: list(at, empty),
    condition: literal(at, true),
    step: filter === undefined ? appended : call(at, "_?_:_", filter, appended, accu()),
    result: accu(),
  });
}

function insert(use: Use, filter: Expr | undefined, transform: Expr | undefined, withKey: boolean): Expr {
  const { at } = use;
  const names = iterationVariables(use, 2, "argument must be a simple name");
  const accu = (): Expr => ident(at, hiddenAccumulator);
  const key = withKey ? [ident(at, names[0] ?? "")] : [];
  const inserted = call(at, "cel.@mapInsert", accu(), ...key, transform as Expr);
  return loop(use, names, {
    init: { kind: "map", at, entries: [] },
    condition: literal(at, true),
    step: filter === undefined ? inserted : call(at, "_?_:_", filter, inserted, accu()),
    result: accu(),
  });
}

/** `target.optMap(name, expr)`: the expression with the value under that name, when there is a value. */
function whenPresent(use: Use, wrap: (inner: Expr) => Expr, macro: string): Expr {
  const { at, target, args } = use;
  const name = args[0] as Expr;
  if (name.kind !== "ident") throw new CelSyntaxError(name.at, `${macro}() variable name must be a simple identifier`);
  const value = member(at, "value", target);
  return call(
    at,
    "_?_:_",
    member(at, "hasValue", target),
    wrap(bind(at, name.name, value, args[1] as Expr)),
    call(at, "optional.none"),
  );
}

function sortBy(use: Use): Expr {
  const { at, target } = use;
  if (target.kind === "literal" || target.kind === "map" || target.kind === "struct") {
    throw new CelSyntaxError(
      target.at,
      "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
    );
  }
  const input = "@__sortBy_input__";
  const keys = collect({ ...use, target: ident(at, input) }, 1, [], undefined, use.args[1]);
  return bind(at, input, target, member(at, "@sortByAssociatedKeys", ident(at, input), keys));
}

function iterationVariables(use: Use, count: 1 | 2, complaint: string): readonly string[] {
  const names = use.args.slice(0, count).map((arg) => {
    if (arg.kind !== "ident") throw new CelSyntaxError(arg.at, complaint);
    if (arg.name === hiddenAccumulator || arg.name === "__result__") {
      throw new CelSyntaxError(arg.at, "iteration variable overwrites accumulator variable");
    }
    return arg.name;
  });
  if (count === 2 && names[0] === names[1]) {
    throw new CelSyntaxError((use.args[1] as Expr).at, `duplicate variable name: ${names[0]}`);
  }
  return names;
}

type Parts = Pick<ComprehensionExpr, "init" | "condition" | "step" | "result">;

const loop = ({ at, target }: Use, names: readonly string[], parts: Parts): Expr => ({
  kind: "comprehension",
  at,
  range: target,
  variable: names[0] ?? "",
  ...(names[1] !== undefined && { variable2: names[1] }),
  accumulator: hiddenAccumulator,
  ...parts,
});

const bind = (at: number, name: string, value: Expr, result: Expr): Expr => ({
  kind: "comprehension",
  at,
  range: list(at, []),
  variable: "#unused",
  accumulator: name,
  init: value,
  condition: literal(at, false),
  step: ident(at, name),
  result,
});

const ident = (at: number, name: string): Expr => ({ kind: "ident", at, name });
const literal = (at: number, value: LiteralValue): Expr => ({ kind: "literal", at, value });
const list = (at: number, elements: readonly Expr[]): Expr => ({ kind: "list", at, elements, optionals: new Set() });
const call = (at: number, name: string, ...args: readonly Expr[]): Expr => ({ kind: "call", at, function: name, args });
const member = (at: number, name: string, target: Expr, ...args: readonly Expr[]): Expr => ({
  kind: "call",
  at,
  function: name,
  target,
  args,
});
