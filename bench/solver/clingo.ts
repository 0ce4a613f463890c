// The same problem for clingo, where it is installed: does it find the same optimum, and how long does it take?
import { spawnSync } from "node:child_process";
import type { Problem } from "../../src/solver/problem.ts";

export type ClingoResult =
  | { readonly kind: "Absent" }
  | { readonly kind: "OutOfTime"; readonly limitMs: number }
  | { readonly kind: "Optimum"; readonly elapsedMs: number; readonly values: ReadonlyMap<string, number> };

export function solveWithClingo(problem: Problem, limitMs: number): ClingoResult {
  if (spawnSync("clingo", ["--version"]).error) return { kind: "Absent" };
  const run = spawnSync(
    "clingo",
    ["-", "--quiet=1", "--outf=2", `--time-limit=${Math.ceil(limitMs / 1_000)}`, "--opt-strategy=usc"],
    {
      input: program(problem),
      maxBuffer: 1 << 28,
      encoding: "utf8",
    },
  );
  const answer = JSON.parse(run.stdout) as {
    readonly Result: string;
    readonly Time: { readonly CPU: number };
    readonly Call: readonly { readonly Witnesses?: readonly { readonly Value: readonly string[] }[] }[];
  };
  const value = answer.Call[0]?.Witnesses?.at(-1)?.Value;
  if (answer.Result !== "OPTIMUM FOUND" || !value) return { kind: "OutOfTime", limitMs };
  const values = new Map<string, number>();
  for (const atom of value) {
    const found = /^is\((\d+),(\d+)\)$/.exec(atom);
    const name = found && problem.variables[Number(found[1])]?.name;
    if (found && name) values.set(name, Number(found[2]));
  }
  // Its own processor time, as ours is counted.
  return { kind: "Optimum", elapsedMs: answer.Time.CPU * 1_000, values };
}

/** Lexicographic by giving each variable a priority of its own, the first the highest. */
function program({ variables, limits, relations, wishes = [], order }: Problem): string {
  const index = new Map(variables.map(({ name }, at) => [name, at]));
  const lines = variables.map(({ size }, at) => `1{is(${at},0..${size - 1})}1.`);
  const forbid = (variable: number, allowed: readonly number[], size: number, head: string): void => {
    const still = new Set(allowed);
    for (let value = 0; value < size; value++) if (!still.has(value)) lines.push(`${head} is(${variable},${value}).`);
  };
  for (const { variable, allowed } of limits) {
    const at = index.get(variable) ?? 0;
    forbid(at, allowed, variables[at]?.size ?? 0, ":-");
  }
  for (const { left, right, allowed } of relations) {
    const [a, b] = [index.get(left) ?? 0, index.get(right) ?? 0];
    for (const [value, row] of allowed.entries()) {
      const still = new Set(row);
      const size = variables[b]?.size ?? 0;
      if (still.size === size) continue;
      for (let other = 0; other < size; other++)
        if (!still.has(other)) lines.push(`:- is(${a},${value}), is(${b},${other}).`);
    }
  }
  const top = wishes.length + order.length;
  for (const [place, { variable, allowed }] of wishes.entries()) {
    const at = index.get(variable) ?? 0;
    forbid(at, allowed, variables[at]?.size ?? 0, `unkept(${place}) :-`);
    lines.push(`:~ unkept(${place}). [1@${top - place}]`);
  }
  for (const [place, name] of order.entries()) lines.push(`:~ is(${index.get(name)},V). [-V@${order.length - place}]`);
  lines.push("#show is/2.");
  return lines.join("\n");
}
