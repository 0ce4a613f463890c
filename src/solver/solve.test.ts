import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Env } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";
import { anyProblem, pigeons } from "./example-problems.ts";
import { createExplainer, whyNotNewer } from "./explain.ts";
import { type Assignment, isConsistent, isKept, type Problem, type Variable } from "./problem.ts";
import { besideOthers } from "./rest.ts";
import { solve } from "./solve.ts";

const env = systemEnv;
const { maxSliceMs } = besideOthers;

test("nothing related: everything is at its newest allowed value", async () => {
  const problem: Problem = {
    variables: [
      { name: "a", size: 3 },
      { name: "b", size: 2 },
    ],
    limits: [{ source: "pin", variable: "a", allowed: [0, 1] }],
    relations: [],
    order: ["a", "b"],
  };
  assert.deepEqual(await solved(problem), { a: 1, b: 1 });
});

test("a joint optimum that choosing one by one would miss", async () => {
  // The newest server suits each plugin on its own, but then no version of the second fits the first's.
  const problem: Problem = {
    variables: [
      { name: "server", size: 2 },
      { name: "p", size: 2 },
      { name: "q", size: 2 },
    ],
    limits: [],
    relations: [
      { source: "p on server", left: "server", right: "p", allowed: [[0, 1], [1]] },
      { source: "q on server", left: "server", right: "q", allowed: [[0, 1], [1]] },
      { source: "p with q", left: "p", right: "q", allowed: [[0, 1], [0]] },
    ],
    order: ["server", "p", "q"],
  };
  assert.deepEqual(await solved(problem), { server: 0, p: 1, q: 0 });
  const explanation = await whyNotNewer(
    problem,
    new Map([
      ["server", 0],
      ["p", 1],
      ["q", 0],
    ]),
    "server",
    { env },
  );
  assert.deepEqual(explanation, {
    kind: "Forbidden",
    obstacles: ["p on server", "p with q", "q on server"].map((source) => ({ kind: "Source", source })),
  });
});

test("what cannot be satisfied names a smallest set of sources", async () => {
  const problem: Problem = {
    variables: [
      { name: "a", size: 3 },
      { name: "b", size: 3 },
    ],
    limits: [
      { source: "pin a", variable: "a", allowed: [2] },
      { source: "pin b", variable: "b", allowed: [0] },
      { source: "harmless", variable: "b", allowed: [0, 1, 2] },
    ],
    relations: [{ source: "a needs b", left: "a", right: "b", allowed: [[0], [0, 1], [1, 2]] }],
    order: ["a", "b"],
  };
  assert.deepEqual(await solve(problem, { env }), { kind: "Impossible", conflict: ["a needs b", "pin a", "pin b"] });
});

test("a variable outside the order keeps its value if it can", async () => {
  const problem: Problem = {
    variables: [
      { name: "a", size: 2 },
      { name: "b", size: 4, current: 1 },
    ],
    limits: [],
    relations: [{ source: "r", left: "a", right: "b", allowed: [[0], [1, 2, 3]] }],
    order: ["a"],
  };
  assert.deepEqual(await solved(problem), { a: 1, b: 1 });
});

test("without time there is no answer, and it says so", async () => {
  const problem = pigeons(9);
  assert.deepEqual(await solve(problem, { env, timeLimitMs: 0 }), { kind: "OutOfTime" });
});

test("an aborted search stops", async () => {
  const stop = new AbortController();
  stop.abort(new Error("enough"));
  await assert.rejects(solve(pigeons(9), { env, signal: stop.signal }), /enough/);
});

test("a long search never holds others up for 50 ms, and stops at its time limit", async () => {
  let nowMs = 0;
  const pausedAtMs: number[] = [];
  const slow: Env = {
    ...systemEnv,
    // Every look at the clock takes a tenth of a millisecond: time is what the solver itself does.
    monotonicMs: () => (nowMs += 0.1),
    setTimer: (_, callback) => {
      pausedAtMs.push(nowMs);
      setImmediate(callback);
      return () => undefined;
    },
  };
  assert.deepEqual(await solve(pigeons(14), { env: slow, timeLimitMs: 400 }), { kind: "OutOfTime" });
  const slices = pausedAtMs.map((at, index) => at - (pausedAtMs[index - 1] ?? 0));
  assert.ok(Math.max(...slices) < 50, slices.join());
  assert.ok(pausedAtMs.length >= 400 / maxSliceMs - 2, `${pausedAtMs.length} pauses`);
  assert.ok(nowMs < 400 + 2 * maxSliceMs, `ended at ${nowMs} ms`);
});

test("random problems: the answer is the optimum that trying everything finds, or there is none", async () => {
  await fc.assert(
    fc.asyncProperty(anyProblem, async (problem) => {
      const expected = bruteForce(problem);
      const answer = await solve(problem, { env });
      if (!expected) {
        assert.equal(answer.kind, "Impossible");
        return;
      }
      assert.ok(answer.kind === "Solved" && answer.proven);
      assert.ok(isConsistent(problem, answer.assignment));
      assert.deepEqual(
        problem.order.map((name) => answer.assignment.get(name)),
        problem.order.map((name) => expected.get(name)),
      );
      const kept = (assignment: Assignment): boolean[] =>
        (problem.wishes ?? []).map((wish) => isKept(wish, assignment));
      assert.deepEqual(kept(answer.assignment), kept(expected));
    }),
    { numRuns: 300 },
  );
});

test("random problems: an explanation forbids the newer value, and without any part of it the value is possible", async () => {
  await fc.assert(
    fc.asyncProperty(anyProblem, async (problem) => {
      const answer = await solve(problem, { env });
      if (answer.kind !== "Solved") return;
      for (const name of problem.order) {
        const explanation = await whyNotNewer(problem, answer.assignment, name, { env });
        const value: number = answer.assignment.get(name) ?? 0;
        if (explanation.kind === "Newest") {
          assert.equal(value, (problem.variables.find((variable) => variable.name === name)?.size ?? 0) - 1);
          continue;
        }
        assert.ok(explanation.kind === "Forbidden");
        const { obstacles } = explanation;
        assert.ok(!possible(problem, name, value + 1, obstacles), "the obstacles forbid it");
        for (const left of obstacles) {
          assert.ok(
            possible(
              problem,
              name,
              value + 1,
              obstacles.filter((other) => other !== left),
            ),
            "each obstacle is needed",
          );
        }
      }
    }),
    { numRuns: 120 },
  );
});

test("random problems: conflicts are minimal", async () => {
  await fc.assert(
    fc.asyncProperty(anyProblem, async (problem) => {
      const answer = await solve(problem, { env });
      if (answer.kind !== "Impossible") return;
      const only = (sources: readonly string[]): Problem => ({
        ...problem,
        limits: problem.limits.filter(({ source }) => sources.includes(source)),
        relations: problem.relations.filter(({ source }) => sources.includes(source)),
      });
      assert.equal(bruteForce(only(answer.conflict)), undefined);
      for (const source of answer.conflict)
        assert.ok(bruteForce(only(answer.conflict.filter((other) => other !== source))));
    }),
    { numRuns: 200 },
  );
});

test("what was not proven is not explained, and says so instead of failing", async () => {
  const problem: Problem = { variables: [{ name: "a", size: 3 }], limits: [], relations: [], order: ["a"] };
  assert.deepEqual(await whyNotNewer(problem, new Map([["a", 1]]), "a", { env }), { kind: "Possible" });
  const hard = pigeons(9);
  const holes = new Map(hard.variables.map(({ name }) => [name, 0]));
  assert.deepEqual(await whyNotNewer(hard, holes, "pigeon 0", { env, timeLimitMs: 0 }), { kind: "OutOfTime" });
});

test("questions that are asked at once are answered as if one after the other, also when the end comes before", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `v${index}`);
  const problem: Problem = {
    variables: names.map((name) => ({ name, size: 3 })),
    limits: names.map((name, index) => ({
      source: `limit ${index}`,
      variable: name,
      allowed: index % 2 ? [0, 1] : [0, 1, 2],
    })),
    relations: names.slice(1).map((name, index) => ({
      source: `relation ${index}`,
      left: names[index] ?? "",
      right: name,
      allowed: [[0, 1, 2], [1], [0, 1]],
    })),
    order: names,
  };
  const answer = await solve(problem, { env });
  assert.ok(answer.kind === "Solved");
  const alone = [];
  for (const name of names) alone.push(await whyNotNewer(problem, answer.assignment, name, { env }));
  const explainer = createExplainer(problem, answer.assignment, { env });
  const together = names.map((name) => explainer.whyNotNewer(name));
  explainer.dispose();
  const late = explainer.whyNotNewer("v1");
  assert.deepEqual(await Promise.all(together), alone);
  assert.deepEqual(await late, alone[1]);
});

async function solved(problem: Problem): Promise<Record<string, number>> {
  const answer = await solve(problem, { env });
  assert.ok(answer.kind === "Solved" && answer.proven);
  return Object.fromEntries(answer.assignment);
}

function* everything(variables: readonly Variable[]): Generator<Assignment> {
  const [first, ...rest] = variables;
  if (!first) return yield new Map();
  for (const others of everything(rest)) {
    for (let value = 0; value < first.size; value++) yield new Map([[first.name, value], ...others]);
  }
}

function bruteForce(problem: Problem): Assignment | undefined {
  let best: Assignment | undefined;
  const score = (assignment: Assignment): number[] => [
    ...(problem.wishes ?? []).map((wish) => Number(isKept(wish, assignment))),
    ...problem.order.map((name) => assignment.get(name) ?? 0),
  ];
  for (const assignment of everything(problem.variables)) {
    if (!isConsistent(problem, assignment)) continue;
    if (!best || isBetter(score(assignment), score(best))) best = assignment;
  }
  return best;
}

function isBetter(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((value, position) => value !== b[position]);
  return index >= 0 && (a[index] ?? 0) > (b[index] ?? 0);
}

type Obstacles = Extract<Awaited<ReturnType<typeof whyNotNewer>>, { kind: "Forbidden" }>["obstacles"];

function possible(problem: Problem, name: string, value: number, obstacles: Obstacles): boolean {
  const sources = new Set(obstacles.flatMap((obstacle) => (obstacle.kind === "Source" ? [obstacle.source] : [])));
  const choices = obstacles.flatMap((obstacle) => (obstacle.kind === "Choice" ? [obstacle] : []));
  const wished = new Set(obstacles.flatMap((o) => (o.kind === "Wish" ? [`${o.source} ${o.variable}`] : [])));
  const wishes = (problem.wishes ?? []).filter(({ source, variable }) => wished.has(`${source} ${variable}`));
  const reduced = {
    limits: problem.limits.filter(({ source }) => sources.has(source)),
    relations: problem.relations.filter(({ source }) => sources.has(source)),
  };
  for (const assignment of everything(problem.variables)) {
    if ((assignment.get(name) ?? 0) < value) continue;
    if (!choices.every((choice) => (assignment.get(choice.variable) ?? 0) >= choice.value)) continue;
    if (!wishes.every((wish) => isKept(wish, assignment))) continue;
    if (isConsistent(reduced, assignment)) return true;
  }
  return false;
}
