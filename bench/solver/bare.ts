// The same clauses in CaDiCaL itself, with nothing around it: no slices, no limits, no explanations.
import { Cadical } from "cadical-wasm";
import { systemEnv } from "../../src/env/system.ts";
import { type Encoded, encode } from "../../src/solver/encode.ts";
import type { Problem } from "../../src/solver/problem.ts";
import { createRest } from "../../src/solver/rest.ts";

export interface Recorded {
  readonly problem: Problem;
  readonly encoded: Encoded;
  readonly clauses: readonly (readonly number[])[];
  readonly variables: number;
  readonly wishes: readonly number[];
  /** Whom `encoded` asks for values. */
  readonly model: { isTrue: (literal: number) => boolean };
}

export async function record(problem: Problem): Promise<Recorded> {
  const clauses: (readonly number[])[] = [];
  const model = { isTrue: (_: number): boolean => false };
  let variables = 0;
  const encoded = await encode(
    problem,
    {
      newVariable: () => ++variables,
      addClause: (literals) => void clauses.push([...literals]),
      solve: async () => "out of time",
      isTrue: (literal) => model.isTrue(literal),
      isImpossible: () => false,
      prefer: () => undefined,
      core: () => [],
      rest: createRest(systemEnv),
      dispose: () => undefined,
    },
    false,
  );
  const wishes = (problem.wishes ?? []).map(({ variable, allowed }) => encoded.within(variable, allowed));
  return { problem, encoded, clauses, variables, wishes, model };
}

/** The newest value of each variable in turn: the top first, then halving. */
export async function solveBare({
  problem,
  encoded,
  clauses,
  wishes,
  model,
}: Recorded): Promise<ReadonlyMap<string, number>> {
  const solver = await Cadical.create({ quiet: true });
  model.isTrue = (literal) => solver.value(literal);
  solver.addClauses(clauses);
  const open = new Set(problem.order);
  const best = new Map<string, number>();
  const readModel = (): void => {
    for (const name of open) best.set(name, encoded.valueOf(name));
  };
  const newestOf = (name: string): number => best.get(name) ?? 0;
  if (solver.solve({ assumptions: wishes }) !== "satisfiable") throw new Error("not all wishes can be kept here");
  readModel();
  for (const literal of wishes) solver.addClause([literal]);
  const sizes = new Map(problem.variables.map(({ name, size }) => [name, size]));
  for (const name of problem.order) {
    let ceiling = (sizes.get(name) ?? 1) - 1;
    let attempt = ceiling;
    while (newestOf(name) < ceiling) {
      if (solver.solve({ assumptions: [encoded.atLeast(name, attempt)] }) === "satisfiable") readModel();
      else ceiling = attempt - 1;
      attempt = Math.max(newestOf(name) + 1, Math.ceil((newestOf(name) + ceiling) / 2));
    }
    solver.addClause([encoded.atLeast(name, newestOf(name))]);
    solver.addClause([-encoded.atLeast(name, newestOf(name) + 1)]);
    open.delete(name);
  }
  solver.dispose();
  return best;
}
