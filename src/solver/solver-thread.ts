import { parentPort } from "node:worker_threads";
import { systemEnv } from "../env/system.ts";
import { type ComponentExplainer, explainComponent } from "./explain-component.ts";
import type { Explanation, Obstacle } from "./obstacle.ts";
import { optimizeComponent } from "./optimize.ts";
import { nameOf, packAssignment, positionOf, unpackAssignment, unpackProblem } from "./pack.ts";
import { byItself } from "./rest.ts";
import type { Solution } from "./solution.ts";
import { obstacleKinds, type ThreadReply, type ThreadTask } from "./thread-messages.ts";

/**
 * What runs on the solver's thread, started by `thread.ts` as a file of its own. It does the same work as the main thread
 * would, in longer slices, between which it hears that an answer is not wanted any more.
 */
const env = systemEnv;
const explainers = new Map<number, ComponentExplainer>();
const underWay = new Map<number, AbortController>();

type Answer = DistributedOmit<ThreadReply>;
type DistributedOmit<T> = T extends unknown ? Omit<T, "id"> : never;

parentPort?.on("message", (task: ThreadTask) => {
  switch (task.kind) {
    case "solve":
      return answer(task.id, (signal) => solveTask(task, signal));
    case "whyNot":
      return answer(task.id, (signal) => explainTask(task, signal));
    case "open": {
      const component = unpackProblem(task.problem);
      const names = component.variables.map(({ name }) => name);
      explainers.set(
        task.explainer,
        explainComponent(component, unpackAssignment(task.optimum, names), { env, pace: byItself }),
      );
      return;
    }
    case "close":
      explainers.get(task.explainer)?.dispose();
      explainers.delete(task.explainer);
      return;
    case "cancel":
      underWay.get(task.id)?.abort();
      return;
  }
});

function answer(id: number, work: (signal: AbortSignal) => Promise<Answer>): void {
  const stop = new AbortController();
  underWay.set(id, stop);
  void work(stop.signal)
    .catch((error: unknown): Answer => {
      if (stop.signal.aborted) return { kind: "Cancelled" };
      return { kind: "Failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    })
    .then((reply) => {
      underWay.delete(id);
      parentPort?.postMessage({ ...reply, id } as ThreadReply);
    });
}

async function solveTask(
  { problem, timeLimitMs }: Extract<ThreadTask, { kind: "solve" }>,
  signal: AbortSignal,
): Promise<Answer> {
  const deadlineMs = timeLimitMs === undefined ? undefined : env.monotonicMs() + timeLimitMs;
  const component = unpackProblem(problem);
  const solution = await optimizeComponent(component, {
    env,
    signal,
    pace: byItself,
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  return packSolution(
    solution,
    component.variables.map(({ name }) => name),
  );
}

function packSolution(solution: Solution, names: readonly string[]): Answer {
  switch (solution.kind) {
    case "Solved":
      return { kind: "Solved", values: packAssignment(solution.assignment, names), proven: solution.proven };
    case "Impossible":
      return { kind: "Impossible", conflict: Int32Array.from(solution.conflict, positionOf) };
    case "OutOfTime":
      return { kind: "OutOfTime" };
  }
}

async function explainTask(
  { explainer, variable, goal, timeLimitMs }: Extract<ThreadTask, { kind: "whyNot" }>,
  signal: AbortSignal,
): Promise<Answer> {
  const found = explainers.get(explainer);
  if (!found) throw new Error(`there is no explainer ${explainer}`);
  const limits = { signal, ...(timeLimitMs !== undefined && { timeLimitMs }) };
  return packExplanation(await found.whyNot(nameOf(variable), goal, limits));
}

function packExplanation(explanation: Explanation): Answer {
  if (explanation.kind !== "Forbidden") return { kind: explanation.kind };
  const numbers = (obstacle: Obstacle): readonly number[] => [
    obstacleKinds.indexOf(obstacle.kind),
    "source" in obstacle ? positionOf(obstacle.source) : -1,
    "variable" in obstacle ? positionOf(obstacle.variable) : -1,
    "value" in obstacle ? obstacle.value : -1,
  ];
  return { kind: "Forbidden", obstacles: Int32Array.from(explanation.obstacles.flatMap(numbers)) };
}
