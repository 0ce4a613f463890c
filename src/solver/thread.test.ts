import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import type { Env } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";
import { anyProblem, hardToProve, pigeons } from "./example-problems.ts";
import { explainComponent } from "./explain-component.ts";
import { optimizeComponent } from "./optimize.ts";
import { packProblem, positionOf, unpackProblem } from "./pack.ts";
import type { Problem } from "./problem.ts";
import { createRest } from "./rest.ts";
import { solve } from "./solve.ts";
import { createSolverThread, solverThread } from "./thread.ts";
import { ThreadLink } from "./thread-link.ts";

const env = systemEnv;

/** What others may call its variables and sources. */
function named({ variables, limits, relations, wishes = [], order }: Problem): Problem {
  const [variable, source] = [(name: string) => `of ${name}`, (name: string) => `from ${name}`];
  const ofLimit = (limit: Problem["limits"][number]) => ({
    ...limit,
    source: source(limit.source),
    variable: variable(limit.variable),
  });
  return {
    variables: variables.map((one) => ({ ...one, name: variable(one.name) })),
    limits: limits.map(ofLimit),
    wishes: wishes.map(ofLimit),
    relations: relations.map((one) => ({
      ...one,
      source: source(one.source),
      left: variable(one.left),
      right: variable(one.right),
    })),
    order: order.map(variable),
  };
}

test("random problems: what was packed is the same problem when it is unpacked", async () => {
  await fc.assert(
    fc.asyncProperty(anyProblem, async (small) => {
      const problem = named(small);
      const { packed, names } = await packProblem(problem, createRest(env));
      const unpacked = unpackProblem(packed);
      const variable = (name: string): string => names.variables[positionOf(name)] ?? "";
      const source = (name: string): string => names.sources[positionOf(name)] ?? "";
      const ofLimit = (limit: Problem["limits"][number]) => ({
        ...limit,
        source: source(limit.source),
        variable: variable(limit.variable),
      });
      assert.deepEqual(
        {
          variables: unpacked.variables.map((one) => ({ ...one, name: variable(one.name) })),
          limits: unpacked.limits.map(ofLimit),
          relations: unpacked.relations.map((one) => ({
            ...one,
            source: source(one.source),
            left: variable(one.left),
            right: variable(one.right),
          })),
          wishes: (unpacked.wishes ?? []).map(ofLimit),
          order: unpacked.order.map(variable),
        },
        problem,
      );
    }),
    { numRuns: 100 },
  );
});

test("random problems: the thread's answers and explanations are those of the main thread", async (context) => {
  const thread = createSolverThread(new ThreadLink(env));
  context.after(() => thread.endIfIdle());
  await fc.assert(
    fc.asyncProperty(anyProblem, async (small) => {
      const problem = named(small);
      const here = await optimizeComponent(problem, { env });
      const there = await thread.solve(problem, {});
      assert.deepEqual(there, here);
      if (here.kind !== "Solved") return;
      const ours = explainComponent(problem, here.assignment, { env });
      const theirs = thread.explain(problem, here.assignment);
      for (const { name, size } of problem.variables) {
        const goal: number = (here.assignment.get(name) ?? 0) + 1;
        if (goal < size) assert.deepEqual(await theirs.whyNot(name, goal, {}), await ours.whyNot(name, goal, {}));
      }
      ours.dispose();
      theirs.dispose();
    }),
    { numRuns: 150 },
  );
});

test("a small question starts no thread, a large one does, and it ends when nothing is asked for a while", async () => {
  const timers = new Map<() => void, number>();
  const manual: Env = {
    ...systemEnv,
    setTimer(delayMs, callback) {
      timers.set(callback, delayMs);
      return () => void timers.delete(callback);
    },
  };
  const before = threads();
  await solve(pigeons(4), { env });
  assert.equal(threads(), before);
  const link = new ThreadLink(manual);
  const thread = createSolverThread(link);
  assert.equal(link.isRunning, false);
  const problem = pigeons(4);
  assert.equal((await thread.solve(problem, {})).kind, "Impossible");
  assert.equal(link.isRunning, true);
  assert.deepEqual([...timers.values()], [10_000]);
  for (const end of [...timers.keys()]) end();
  assert.equal(link.isRunning, false);
  assert.equal((await thread.solve(problem, {})).kind, "Impossible", "the next question starts another");
  await thread.endIfIdle();
  assert.equal(link.isRunning, false);
});

test("a large question is solved on the thread, whatever others do meanwhile", async (context) => {
  context.after(() => solverThread.endIfIdle());
  const problem = manyRows();
  const before = threads();
  let during = 0;
  const watching = setInterval(() => {
    during = Math.max(during, threads());
  }, 1);
  const answer = await solve(problem, { env });
  clearInterval(watching);
  assert.ok(answer.kind === "Solved" && answer.proven);
  assert.deepEqual([...answer.assignment.values()], [2_499, 2_498, 2_497, 2_496, 2_495, 2_494]);
  assert.ok(during > before, "a thread was running");
  const inline = await solve(problem, { env: { ...systemEnv } });
  assert.deepEqual(inline, answer, "and its answer is the one that is found without it");
});

test("at its time limit the best answer so far is given, and said not to be proven", async (context) => {
  const thread = createSolverThread(new ThreadLink(env));
  context.after(() => thread.endIfIdle());
  const within = (timeLimitMs: number) => ({ deadlineMs: env.monotonicMs() + timeLimitMs });
  const answer = await thread.solve(hardToProve(14), within(300));
  assert.ok(answer.kind === "Solved" && !answer.proven);
  assert.equal(answer.assignment.get("all inside"), 0);
  assert.deepEqual(await thread.solve(pigeons(14), within(0)), { kind: "OutOfTime" });
  const explainer = thread.explain(hardToProve(14), answer.assignment);
  assert.deepEqual(await explainer.whyNot("all inside", 1, { timeLimitMs: 100 }), { kind: "OutOfTime" });
});

test("a question that is not wanted any more ends at once, and so does the work on it; the others go on", async (context) => {
  const link = new ThreadLink(env);
  const thread = createSolverThread(link);
  context.after(() => thread.endIfIdle());
  const stop = new AbortController();
  const question = thread.solve(pigeons(14), { signal: stop.signal });
  const other = thread.solve(pigeons(7), {});
  // The hard one would take minutes, and lets the other one have its turn.
  assert.equal((await other).kind, "Impossible");
  stop.abort(new Error("enough"));
  await assert.rejects(question, /enough/);
  assert.equal((await thread.solve(pigeons(4), {})).kind, "Impossible");
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1_000 < 150, `${(user + system) / 1_000} ms of work after the end`);
  const generation = link.generation;
  assert.equal((await thread.solve(pigeons(4), {})).kind, "Impossible");
  assert.equal(link.generation, generation, "the thread is still the same");
});

test("a thread that does not hear that it should stop is ended", async () => {
  const deaf = new URL(`data:text/javascript,${encodeURIComponent("setTimeout(() => { while (true); }, 0)")}`);
  const timers: (() => void)[] = [];
  const setTimer: Env["setTimer"] = (_, callback) => {
    timers.push(callback);
    return () => undefined;
  };
  const link = new ThreadLink({ ...systemEnv, setTimer }, deaf);
  const stop = new AbortController();
  const question = createSolverThread(link).solve(pigeons(4), { signal: stop.signal });
  while (!link.isRunning) await new Promise(setImmediate);
  stop.abort(new Error("enough"));
  await assert.rejects(question, /enough/);
  assert.equal(link.isRunning, true);
  for (const callback of timers) callback();
  assert.equal(link.isRunning, false);
});

test("a thread that dies fails the questions that wait for it, and the next question starts another", async (context) => {
  const source = `
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", () => { throw new Error("out of memory"); });`;
  const link = new ThreadLink(env, new URL(`data:text/javascript,${encodeURIComponent(source)}`));
  const dying = createSolverThread(link);
  context.after(() => dying.endIfIdle());
  const fault = /the solver's thread has died: out of memory/;
  await Promise.all([
    assert.rejects(dying.solve(pigeons(4), {}), fault),
    assert.rejects(dying.solve(pigeons(5), {}), fault),
  ]);
  assert.equal(link.isRunning, false);
  await assert.rejects(dying.solve(pigeons(4), {}), fault);
});

test("a question that could not even be sent is waited for by nobody, and the thread of the next ones ends as ever", async (context) => {
  const file = new URL("https://nowhere.example/solver-thread.js");
  const link = new ThreadLink(env, file);
  const thread = createSolverThread(link);
  context.after(() => thread.endIfIdle());
  const listeners = { added: 0, removed: 0 };
  const { signal } = new AbortController();
  context.mock.method(signal, "addEventListener", () => listeners.added++);
  context.mock.method(signal, "removeEventListener", () => listeners.removed++);
  await assert.rejects(thread.solve(pigeons(4), { signal }), { code: "ERR_INVALID_URL_SCHEME" });
  assert.equal(listeners.added, listeners.removed);
  file.href = new URL("./solver-thread.ts", import.meta.url).href;
  assert.equal((await thread.solve(pigeons(4), {})).kind, "Impossible");
  const sent = new ArrayBuffer(8);
  sent.transfer();
  await assert.rejects(
    link.ask((id) => ({ kind: "cancel", id }), { transfer: [sent] }),
    { name: "DataCloneError" },
  );
  assert.equal(link.isRunning, true);
  await thread.endIfIdle();
  assert.equal(link.isRunning, false);
});

test("a program ends by itself as soon as it has its large answer", async () => {
  const program = `
    const { solve } = await import("./src/solver/solve.ts");
    const { systemEnv: env } = await import("./src/env/system.ts");
    const problem = (${manyRows.toString()})();
    const answer = await solve(problem, { env });
    console.log(answer.kind);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    timeout: 30_000,
  });
  assert.equal(stdout, "Solved\n");
});

/** Six plugins of two and a half thousand versions; each follows the one before it, a step behind. */
function manyRows(): Problem {
  const size = 2_500;
  const names = ["a", "b", "c", "d", "e", "f"];
  const behind = Array.from({ length: size }, (_, value) => (value === 0 ? [0] : [value - 1]));
  return {
    variables: names.map((name) => ({ name, size })),
    limits: [],
    relations: names.slice(1).map((right, index) => ({
      source: `${right} follows ${names[index]}`,
      left: names[index] ?? "",
      right,
      allowed: behind,
    })),
    order: names,
  };
}

/** How many threads with an event loop this process has. */
const threads = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === "MessagePort" || resource === "Worker").length;
