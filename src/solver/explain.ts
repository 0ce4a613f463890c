import type { Env } from "../env/env.ts";
import { componentsOf } from "./components.ts";
import { type ComponentExplainer, explainComponent } from "./explain-component.ts";
import type { Explanation, Obstacle } from "./obstacle.ts";
import type { Assignment, Problem } from "./problem.ts";
import { createRest } from "./rest.ts";
import { isForThread, solverThread } from "./thread.ts";
import { takeTurns } from "./turns.ts";

export type { Explanation, Obstacle };

export interface ExplainLimits {
  readonly env: Env;
  /** For each question. */
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Answers for one optimum of one problem; each part of the problem is written out once, at the first question about it,
 * and a large one on the solver's thread. Questions are answered one after the other, and what was asked before the end
 * is answered.
 */
export interface Explainer {
  /** Why the variable is not newer than it is; with `atLeast`, why it is not at least that new. */
  whyNotNewer(
    variable: string,
    question?: { readonly atLeast?: number; readonly signal?: AbortSignal },
  ): Promise<Explanation>;
  dispose(): void;
}

export function createExplainer(problem: Problem, optimum: Assignment, limits: ExplainLimits): Explainer {
  const { env, timeLimitMs } = limits;
  const sizes = new Map(problem.variables.map(({ name, size }) => [name, size]));
  const opened = new Map<Problem, ComponentExplainer>();
  let componentOf: ReadonlyMap<string, Problem> | undefined;
  let isEnded = false;
  const inTurn = takeTurns(close);
  return {
    whyNotNewer: (variable, { atLeast = (optimum.get(variable) ?? 0) + 1, signal = limits.signal } = {}) =>
      inTurn(() => answer(variable, atLeast, signal)),
    dispose() {
      isEnded = true;
      void inTurn(async () => undefined);
    },
  };

  async function answer(variable: string, goal: number, signal: AbortSignal | undefined): Promise<Explanation> {
    signal?.throwIfAborted();
    if (goal > (sizes.get(variable) ?? 0) - 1) return { kind: "Newest" };
    componentOf ??= await componentsByVariable(problem, env);
    const component = componentOf.get(variable);
    if (!component) return { kind: "Newest" };
    const explainer = opened.get(component) ?? open(component);
    opened.set(component, explainer);
    return explainer.whyNot(variable, goal, {
      ...(timeLimitMs !== undefined && { timeLimitMs }),
      ...(signal && { signal }),
    });
  }

  function open(component: Problem): ComponentExplainer {
    return isForThread(component, env)
      ? solverThread.explain(component, optimum)
      : explainComponent(component, optimum, { env });
  }

  function close(): void {
    if (!isEnded) return;
    for (const explainer of opened.values()) explainer.dispose();
    opened.clear();
  }
}

async function componentsByVariable(problem: Problem, env: Env): Promise<ReadonlyMap<string, Problem>> {
  const componentOf = new Map<string, Problem>();
  for (const component of await componentsOf(problem, createRest(env)))
    for (const { name } of component.variables) componentOf.set(name, component);
  return componentOf;
}

/** One question to an explainer of its own. */
export async function whyNotNewer(
  problem: Problem,
  optimum: Assignment,
  variable: string,
  limits: ExplainLimits,
): Promise<Explanation> {
  const explainer = createExplainer(problem, optimum, limits);
  try {
    return await explainer.whyNotNewer(variable);
  } finally {
    explainer.dispose();
  }
}
