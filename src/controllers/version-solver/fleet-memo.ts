import { createRest, type Rest } from "../../solver/rest.ts";
import { createFleetExplainer, type FleetExplainer } from "./explain-fleet.ts";
import { digestInSlices } from "./facts-digest.ts";
import type { FleetObjects } from "./fleet.ts";
import { type FleetAnswer, type SolveFleetOptions, solveFleet } from "./solve-fleet.ts";
import { eligibilityAt } from "./update-delay.ts";

/** Every object of a fleet asks the same question, so it is solved once for all of them, until something changes. */
export interface FleetMemo {
  /** Ends with the signal; the search itself ends when nobody waits for it any more. */
  solve(namespace: string, objects: FleetObjects, signal?: AbortSignal): Promise<Solved>;
}

export interface Solved {
  readonly answer: FleetAnswer | undefined;
  readonly explainer: FleetExplainer | undefined;
}

interface Question {
  readonly key: string;
  readonly solved: Promise<Solved>;
  readonly stop: AbortController;
  waiting: number;
}

const maxNamespaces = 1_000;

export function createFleetMemo(
  options: SolveFleetOptions,
  timed: (solve: () => Promise<FleetAnswer | undefined>) => Promise<FleetAnswer | undefined>,
): FleetMemo {
  const known = new Map<string, Question>();
  const forget = (namespace: string, question: Question | undefined): void => {
    if (!question || known.get(namespace) !== question) return;
    known.delete(namespace);
    void question.solved.then(
      ({ explainer }) => explainer?.dispose(),
      () => undefined,
    );
  };
  const ask = (namespace: string, key: string, objects: FleetObjects): Question => {
    forget(namespace, known.get(namespace));
    const stop = new AbortController();
    const solved = timed(() => solveFleet(objects, { ...options, signal: stop.signal })).then((answer) => ({
      answer,
      explainer: answer && createFleetExplainer(answer, options),
    }));
    const question: Question = { key, solved, stop, waiting: 0 };
    known.set(namespace, question);
    // A failure is not an answer: the next one to ask tries again.
    solved.catch(() => forget(namespace, question));
    const [oldest] = known;
    if (known.size > maxNamespaces && oldest) forget(...oldest);
    return question;
  };
  return {
    async solve(namespace, objects, signal) {
      const key = await keyOf(objects, createRest(options.env, signal));
      signal?.throwIfAborted();
      const found = known.get(namespace);
      const question = found?.key === key ? found : ask(namespace, key, objects);
      return answered(question, signal, () => forget(namespace, question));
    },
  };
}

async function answered(question: Question, signal: AbortSignal | undefined, forget: () => void): Promise<Solved> {
  question.waiting++;
  if (!signal) return question.solved;
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => {
      question.waiting--;
      if (question.waiting === 0) {
        forget();
        question.stop.abort(signal.reason);
      }
      reject(signal.reason);
    };
  });
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([question.solved, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** All that the answer depends on. Time counts only where something has become old enough by it. */
async function keyOf({ servers, plugins, now }: FleetObjects, rest: Rest): Promise<string> {
  const parts: string[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const object of [...servers, ...plugins]) {
    parts.push(await digestInSlices(object, rest));
    lastMs = Math.max(lastMs, eligibilityAt([object], now).lastMs);
    const pause = rest();
    if (pause) await pause;
  }
  return [lastMs, ...parts].join();
}
