import { Cadical, type CadicalModule, createModule } from "cadical-wasm";
import type { Env } from "../env/env.ts";
import { forgettable } from "../env/forgettable.ts";
import { besideOthers, createRest, type Pace, type Rest } from "./rest.ts";

/**
 * The only file that knows the SAT solver. Literals are non-zero integers, negative for "not". Work is done in slices, so
 * that the event loop is never held for long, and stops at the deadline or when the signal says so.
 */
export interface Sat {
  newVariable(): number;
  /** Taken at once: the array may be used for the next clause. */
  addClause(literals: readonly number[]): void;
  /**
   * A hint: answers in which these are true are wanted. Where answers are plenty it finds good ones at once; where they are
   * rare it can lead astray for a long time, so it is given up when a question turns out to be hard.
   */
  prefer(literals: readonly number[]): void;
  /** What a question brings along counts instead of the solver's own. */
  solve(assumptions: readonly number[], limits?: QuestionLimits): Promise<Verdict>;
  /** After "satisfiable". */
  isTrue(literal: number): boolean;
  /** Whether it is known for good that the literal is false, without asking. */
  isImpossible(literal: number): boolean;
  /** After "unsatisfiable": assumptions that already cannot hold together. */
  core(): readonly number[];
  /** For long work around the questions. */
  readonly rest: Rest;
  dispose(): void;
}

export type Verdict = "satisfiable" | "unsatisfiable" | "out of time";

export interface QuestionLimits {
  /** On `env.monotonicMs()`. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export interface SatLimits extends QuestionLimits {
  readonly env: Env;
  readonly pace?: Pace;
  /** For hundreds of thousands of clauses. */
  readonly isLarge?: boolean;
}

/** A question that needs more than this is hard. */
const hintedConflicts = 2_000;
const hintedSlices = 50;

export async function createSat(limits: SatLimits): Promise<Sat> {
  const { env, isLarge = false, pace = besideOthers } = limits;
  const module = isLarge ? await droppedWhole() : await sharedModule();
  // "Lucky" answers are all-true and all-false: of no use for choices, and looked for anew with every question.
  const solver = new Cadical(module, { quiet: true, lucky: false });
  let variables = 0;
  const rest = createRest(env, limits.signal, pace);
  solver.setTerminate(rest.isOver);
  const preferred: number[] = [];
  let brokenOff = 0;
  const giveUpHints = (): void => {
    for (const literal of preferred) solver.unphase(literal);
    preferred.length = 0;
  };
  return {
    rest,
    prefer(literals) {
      for (const literal of literals) {
        preferred.push(literal);
        solver.phase(literal);
      }
    },
    newVariable: () => ++variables,
    addClause: (literals) => solver.addClause(literals),
    async solve(assumptions, { deadlineMs = Number.POSITIVE_INFINITY, signal } = limits) {
      let nextSliceMs = pace.sliceMs;
      while (true) {
        signal?.throwIfAborted();
        if (env.monotonicMs() >= deadlineMs) return "out of time";
        // A question that is begun at the end of a slice would only be broken off, and its work lost.
        if (rest.isOver()) await rest.take(nextSliceMs);
        const isHinted = preferred.length > 0;
        const status = solver.solve({ assumptions, ...(isHinted && { conflicts: hintedConflicts }) });
        if (status !== "unknown") return status;
        // What is broken off begins from its first decision again, with all that was learned.
        nextSliceMs = Math.min(pace.maxSliceMs, nextSliceMs * 1.25);
        // Broken off by its limit of conflicts, or again and again by the end of a slice.
        if (isHinted && (!rest.isOver() || ++brokenOff > hintedSlices)) giveUpHints();
      }
    },
    isTrue: (literal) => solver.value(literal),
    isImpossible: (literal) => solver.fixed(literal) === false,
    core: () => solver.failedAssumptions(),
    dispose: () => solver.dispose(),
  };
}

const sharedModule = forgettable(() => createModule());

/**
 * To give back a million clauses one by one holds the event loop for 60 ms. A large solver gets a memory of its own instead,
 * which goes as a whole once nobody holds it.
 */
async function droppedWhole(): Promise<CadicalModule> {
  const module = await createModule();
  return {
    ...module,
    cwrap: (name, ...more) => (name === "ccadical_release" ? () => undefined : module.cwrap(name, ...more)),
  };
}
