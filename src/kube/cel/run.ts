import type { CelValue } from "./value.ts";
import { maxWork } from "./work.ts";

/** One evaluation: the values of variables, and what it has cost so far. */
export class Run {
  cost = 0;
  readonly locals: CelValue[] = [];
  readonly variable: (name: string) => CelValue | undefined;
  readonly #limit: number;
  #work = 0;

  constructor(variable: (name: string) => CelValue | undefined, limit: number) {
    this.variable = variable;
    this.#limit = limit;
  }

  /** Counts what is really done; ends the evaluation like a cost that is too high. */
  toil(work: number): void {
    this.#work += work;
    if (this.#work > maxWork) throw new CostExceeded();
  }

  /** Every step pays before it works, so that no expression runs longer than its budget. */
  spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CostExceeded();
  }
}

/** Not an error that an expression could absorb: the whole evaluation ends. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}
