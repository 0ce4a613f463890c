import type { FleetExplainer, Hold } from "./explain-fleet.ts";
import type { FleetAnswer } from "./solve-fleet.ts";
import { applyWhatIf, formatWhatIf, type Objects, remedyOf, type WhatIf } from "./what-if.ts";

/** Changes that belong together, and the version that they lead to. */
export interface Remedy {
  readonly changes: readonly string[];
  readonly reaches: string;
}

export interface RemedyTools {
  solve(objects: Objects): Promise<FleetAnswer | undefined>;
  explainer(answer: FleetAnswer): FleetExplainer;
}

/** What is looked at in an answer: whether it is better than before, what it reached, and what holds it. */
export interface Target {
  readonly isBetter: (answer: FleetAnswer) => boolean;
  readonly reached: (answer: FleetAnswer) => string;
  readonly hold: (explainer: FleetExplainer) => Promise<Hold | undefined>;
}

export type FindRemedies = (hold: Hold, target: Target) => Promise<readonly Remedy[]>;

const maxSingle = 6;
const maxTogether = 5;
/** A large fleet is solved a few times more, a small one often; the same for the same objects, however fast the machine is. */
const maxSolved = 100;
const maxObjectsSolved = 10_000;

/** Each single change that helps; where none does, a set of them that does, found one hold after the other. */
export function remedyFinder(objects: Objects, tools: RemedyTools): FindRemedies {
  const known = new Map<string, Promise<FleetAnswer | undefined>>();
  const budget = Math.min(maxSolved, Math.ceil(maxObjectsSolved / (objects.servers.length + objects.plugins.length)));
  /** One change may concern many objects, and is solved once; only so many are solved at all. */
  const solveWith = async (changes: readonly WhatIf[]): Promise<FleetAnswer | undefined> => {
    const key = changes.map(formatWhatIf).join();
    if (!known.has(key) && known.size >= budget) return undefined;
    const answer = known.get(key) ?? trySolve(changes);
    known.set(key, answer);
    return answer;
  };
  const trySolve = async (changes: readonly WhatIf[]): Promise<FleetAnswer | undefined> => {
    let changed = objects;
    for (const change of changes) {
      const applied = applyWhatIf(changed, change);
      if (!applied.ok) return undefined;
      changed = applied.value;
    }
    return tools.solve(changed);
  };
  return async (hold, target) => {
    const singles: Remedy[] = [];
    const changes = changesFor(hold);
    for (const change of changes.slice(0, maxSingle)) {
      const answer = await solveWith([change]);
      if (answer && target.isBetter(answer))
        singles.push({ changes: [formatWhatIf(change)], reaches: target.reached(answer) });
    }
    if (singles.length > 0) return singles;
    return together(changes, target);
  };

  async function together(first: readonly WhatIf[], target: Target): Promise<readonly Remedy[]> {
    const taken: WhatIf[] = [];
    let next = first[0];
    while (next && taken.length < maxTogether) {
      taken.push(next);
      const answer = await solveWith(taken);
      if (!answer) return [];
      if (target.isBetter(answer)) return [{ changes: taken.map(formatWhatIf), reaches: target.reached(answer) }];
      const explainer = tools.explainer(answer);
      try {
        const hold = await target.hold(explainer);
        next =
          hold && changesFor(hold).find((change) => !taken.some((old) => formatWhatIf(old) === formatWhatIf(change)));
      } finally {
        explainer.dispose();
      }
    }
    return [];
  }
}

function changesFor({ causes }: Hold): readonly WhatIf[] {
  const changes = causes.flatMap((cause) => remedyOf(cause) ?? []);
  return [...new Map(changes.map((change) => [formatWhatIf(change), change])).values()];
}
