import { isMainThread } from "node:worker_threads";
import type { Env } from "../env/env.ts";
import { isSystemTime, systemEnv } from "../env/system.ts";
import { isLarge } from "./components.ts";
import type { ComponentExplainer } from "./explain-component.ts";
import { type Explanation, forbiddenBy, type Obstacle } from "./obstacle.ts";
import { buffersOf, type PackedNames, packAssignment, packProblem, unpackAssignment } from "./pack.ts";
import type { Assignment, Problem } from "./problem.ts";
import { createRest } from "./rest.ts";
import type { QuestionLimits } from "./sat.ts";
import type { Solution } from "./solution.ts";
import { ThreadLink } from "./thread-link.ts";
import { obstacleKinds, type ThreadReply } from "./thread-messages.ts";

/** Whether a component is worth the thread. A simulation brings an `Env` of its own, and has to be the same every time. */
export const isForThread = (component: Problem, env: Env): boolean =>
  isSystemTime(env) && isMainThread && isLarge(component);

/** Solves and explains components off the main thread. One for the whole process; its thread runs only while it is needed. */
export interface SolverThread {
  solve(component: Problem, limits: QuestionLimits): Promise<Solution>;
  explain(component: Problem, optimum: Assignment): ComponentExplainer;
  /** Ends the thread at once if nobody waits for it, instead of a little later. */
  endIfIdle(): Promise<void>;
}

export function createSolverThread(link: ThreadLink): SolverThread {
  let explainers = 0;
  return {
    async solve(component, { deadlineMs, signal }) {
      const { packed, names } = await packProblem(component, createRest(link.env, signal));
      const timeLimitMs = deadlineMs === undefined ? undefined : Math.max(0, deadlineMs - link.env.monotonicMs());
      const reply = await link.ask(
        (id) => ({ kind: "solve", id, problem: packed, ...(timeLimitMs !== undefined && { timeLimitMs }) }),
        { transfer: buffersOf(packed), ...(signal && { signal }) },
      );
      return readSolution(reply, names);
    },
    explain(component, optimum) {
      const explainer = ++explainers;
      let opened: { readonly names: PackedNames; readonly generation: number } | undefined;
      return {
        async whyNot(variable, goal, { timeLimitMs, signal }) {
          // A thread that has ended since has forgotten the component.
          if (opened === undefined || opened.generation !== link.generation) {
            const { packed, names } = await packProblem(component, createRest(link.env, signal));
            const values = packAssignment(optimum, names.variables);
            const task = { kind: "open", explainer, problem: packed, optimum: values } as const;
            opened = { names, generation: link.tell(task, [...buffersOf(packed), values.buffer]) };
          }
          const { names } = opened;
          const position = names.variables.indexOf(variable);
          const reply = await link.ask(
            (id) => ({
              kind: "whyNot",
              id,
              explainer,
              variable: position,
              goal,
              ...(timeLimitMs !== undefined && { timeLimitMs }),
            }),
            signal ? { signal } : {},
          );
          return readExplanation(reply, names);
        },
        dispose() {
          if (opened !== undefined && opened.generation === link.generation) link.tell({ kind: "close", explainer });
          opened = undefined;
        },
      };
    },
    endIfIdle: () => link.endIfIdle(),
  };
}

export const solverThread = createSolverThread(new ThreadLink(systemEnv));

function readSolution(reply: ThreadReply, { variables, sources }: PackedNames): Solution {
  switch (reply.kind) {
    case "Solved":
      return { kind: "Solved", assignment: unpackAssignment(reply.values, variables), proven: reply.proven };
    case "Impossible":
      return { kind: "Impossible", conflict: Array.from(reply.conflict, (source) => sources[source] ?? "") };
    case "OutOfTime":
      return { kind: "OutOfTime" };
    default:
      throw new Error(`the solver's thread answered ${reply.kind}`);
  }
}

function readExplanation(reply: ThreadReply, { variables, sources }: PackedNames): Explanation {
  switch (reply.kind) {
    case "Forbidden": {
      const { obstacles } = reply;
      return forbiddenBy(
        Array.from({ length: obstacles.length / 4 }, (_, index): Obstacle => {
          const [kind = 0, source = -1, variable = -1, value = 0] = obstacles.subarray(index * 4, index * 4 + 4);
          const names = { source: sources[source] ?? "", variable: variables[variable] ?? "" };
          switch (obstacleKinds[kind] ?? "Source") {
            case "Source":
              return { kind: "Source", source: names.source };
            case "Wish":
              return { kind: "Wish", ...names };
            case "Choice":
              return { kind: "Choice", variable: names.variable, value };
          }
        }),
      );
    }
    case "Newest":
    case "Possible":
    case "OutOfTime":
      return { kind: reply.kind };
    default:
      throw new Error(`the solver's thread answered ${reply.kind}`);
  }
}
