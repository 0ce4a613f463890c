// The version solver on whole fleets: the proven optimum against bare CaDiCaL on the same clauses, against the linear
// search of the specification, and against clingo where it is installed. Times are processor time, medians of rounds
// that take turns, so that a busy machine disturbs both sides alike.
import { mkdirSync, writeFileSync } from "node:fs";
import { createFleetExplainer } from "../src/controllers/version-solver/explain-fleet.ts";
import { linkFleet } from "../src/controllers/version-solver/fleet.ts";
import { type FleetProblem, fleetProblem } from "../src/controllers/version-solver/fleet-problem.ts";
import { solveFleet } from "../src/controllers/version-solver/solve-fleet.ts";
import { systemEnv } from "../src/env/system.ts";
import { createRest } from "../src/solver/rest.ts";
import { solve } from "../src/solver/solve.ts";
import { record, solveBare } from "./solver/bare.ts";
import { solveWithClingo } from "./solver/clingo.ts";
import { type BenchFleet, makeFleet, versionsEach } from "./solver/fleet.ts";
import { brokenDependencies, solveLinear } from "./solver/linear.ts";

interface Row {
  readonly name: string;
  readonly value: string;
}

const env = systemEnv;
const rounds = 3;
const seed = 7;

export async function run(): Promise<void> {
  // The solver's timers do not keep a process alive.
  const awake = setInterval(() => undefined, 1_000);
  const rows: Row[] = [];
  const say = (name: string, value: string): void => {
    rows.push({ name, value });
    console.log(`${name.padEnd(66)} ${value}`);
  };
  for (const size of [50, 200, 500, 1_000]) await compare(size, say);
  await explain(500, say);
  await smoothness(500, say);
  await withClingo(say);
  clearInterval(awake);
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/solver.json", `${JSON.stringify(rows, null, 2)}\n`);
}

type Say = (name: string, value: string) => void;

async function modelOf(fleet: BenchFleet): Promise<FleetProblem> {
  const rest = createRest(env);
  return fleetProblem(await linkFleet({ ...fleet, now: new Date() }, rest), rest);
}

async function compare(size: number, say: Say): Promise<void> {
  const fleet = makeFleet(size, size, seed);
  const model = await modelOf(fleet);
  const recorded = await record(model.problem);
  const [ours, bare, models]: [number[], number[], number[]] = [[], [], []];
  let same = true;
  let kind = "";
  for (let round = 0; round < rounds; round++) {
    models.push(await timed(() => modelOf(fleet)));
    // Tables that an earlier round left in memory would be an unfair help.
    const fresh = await modelOf(fleet);
    let found: ReadonlyMap<string, number> = new Map();
    ours.push(
      await timed(async () => {
        const solution = await solve(fresh.problem, { env });
        if (solution.kind === "Solved") found = solution.assignment;
        kind = solution.kind === "Solved" && solution.proven ? "proven" : solution.kind;
      }),
    );
    let other: ReadonlyMap<string, number> = new Map();
    bare.push(
      await timed(async () => {
        other = await solveBare(recorded);
      }),
    );
    same &&= model.problem.order.every((name) => found.get(name) === other.get(name));
  }
  const name = `${size} servers × ${size} plugins × ${versionsEach}`;
  say(`${name}: pairs, variables, clauses`, `${fleet.pairs}, ${recorded.variables}, ${recorded.clauses.length}`);
  say(
    `${name}: ours, encoding included${size === 500 ? " (limit: 1000 ms)" : ""}`,
    `${median(ours).toFixed(0)} ms, ${kind}`,
  );
  say(
    `${name}: bare CaDiCaL, same clauses`,
    `${median(bare).toFixed(0)} ms, ${same ? "same optimum" : "ANOTHER ANSWER"}`,
  );
  say(`${name}: ratio${size === 500 ? " (limit: 1.5)" : ""}`, `${(median(ours) / median(bare)).toFixed(2)}x`);
  say(`${name}: from objects to a problem`, `${median(models).toFixed(0)} ms`);
  await compareLinear(model, name, say);
}

async function compareLinear(model: FleetProblem, name: string, say: Say): Promise<void> {
  const solution = await solve(model.problem, { env });
  if (solution.kind !== "Solved") return;
  const linear = solveLinear(model.problem);
  const elapsed = await timed(async () => void solveLinear(model.problem));
  const stranded = [...linear.plugins].filter(
    ([variable, value]) => value === 0 && (solution.assignment.get(variable) ?? 0) > 0,
  ).length;
  const broken = brokenDependencies(model.problem, linear);
  const share = (stranded / Math.max(1, linear.plugins.size)) * 100;
  say(
    `${name}: linear search`,
    `${elapsed.toFixed(0)} ms; ${stranded} plugins (${share.toFixed(0)} %) without a version that fits, ${broken} dependencies broken`,
  );
}

async function explain(size: number, say: Say): Promise<void> {
  const fleet = makeFleet(size, size, seed);
  const answer = await solveFleet({ ...fleet, now: new Date() }, { env });
  if (!answer) return;
  const explainer = createFleetExplainer(answer, { env });
  let causes = 0;
  const first = await timed(async () => {
    causes += (await explainer.server("s0000"))?.causes.length ?? 0;
  });
  const names = fleet.servers.slice(1, 101).map(({ metadata }) => metadata.name);
  const more = await timed(async () => {
    for (const name of names) causes += (await explainer.server(name))?.causes.length ?? 0;
  });
  explainer.dispose();
  say(
    `explanations at ${size} × ${size}: the first, then each of the next 100`,
    `${first.toFixed(0)} ms, ${(more / names.length).toFixed(1)} ms`,
  );
  say(`explanations at ${size} × ${size}: causes in each`, (causes / 101).toFixed(1));
}

/** How much work the solver did at a time before it let others run, in processor time: the clock also counts other programs. */
async function smoothness(size: number, say: Say): Promise<void> {
  const fleet = makeFleet(size, size, seed);
  let last = threadMs();
  let longest = 0;
  const pulse = setInterval(() => {
    longest = Math.max(longest, threadMs() - last);
    last = threadMs();
  }, 1);
  await solveFleet({ ...fleet, now: new Date() }, { env });
  await new Promise((resolve) => setTimeout(resolve, 5));
  clearInterval(pulse);
  say(`longest time that the event loop was held at ${size} × ${size} (limit: 50 ms)`, `${longest.toFixed(0)} ms`);
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

async function withClingo(say: Say): Promise<void> {
  for (const [servers, plugins] of [
    [10, 10],
    [20, 20],
    [20, 50],
  ] as const) {
    const model = await modelOf(makeFleet(servers, plugins, seed));
    const name = `${servers} × ${plugins}: clingo`;
    const theirs = solveWithClingo(model.problem, 60_000);
    if (theirs.kind === "Absent") return say("clingo", "not installed here (Debian package gringo)");
    const solution = await solve(model.problem, { env });
    const ours = await timed(async () => void (await solve(model.problem, { env })));
    if (theirs.kind === "OutOfTime")
      say(name, `no proof within ${theirs.limitMs / 1_000} s; ours ${ours.toFixed(0)} ms`);
    else {
      const isSame =
        solution.kind === "Solved" &&
        model.problem.order.every((one) => solution.assignment.get(one) === theirs.values.get(one));
      say(
        name,
        `${theirs.elapsedMs.toFixed(0)} ms, ${isSame ? "same optimum" : "ANOTHER ANSWER"}; ours ${ours.toFixed(0)} ms`,
      );
    }
  }
}

/** Processor time in milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
