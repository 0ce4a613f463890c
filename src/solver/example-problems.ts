import fc from "fast-check";
import type { Problem, Variable } from "./problem.ts";

/** Problems for tests: any small one, and some that are small but hard. */

export const anyProblem = fc
  .record({
    sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }),
    chance: fc.infiniteStream(fc.nat(99)),
  })
  .map(({ sizes, chance }): Problem => {
    const roll = (): number => chance.next().value as number;
    const variables: Variable[] = sizes.map((size, index) => ({ name: `v${index}`, size, current: roll() % size }));
    const some = (size: number, percent: number): number[] =>
      Array.from({ length: size }, (_, value) => value).filter(() => roll() < percent);
    const limits = variables
      .filter(() => roll() < 30)
      .map(({ name, size }, index) => ({ source: `limit ${index}`, variable: name, allowed: some(size, 70) }));
    const relations = variables.flatMap((left, i) =>
      variables.slice(i + 1).flatMap((right, j) =>
        roll() < 60
          ? [
              {
                source: `relation ${i} ${i + 1 + j}`,
                left: left.name,
                right: right.name,
                allowed: Array.from({ length: left.size }, () => some(right.size, 65)),
              },
            ]
          : [],
      ),
    );
    const order = variables.filter(() => roll() < 85).map(({ name }) => name);
    const wishes = variables
      .filter(() => roll() < 40)
      .map(({ name, size }, index) => ({ source: `wish ${index}`, variable: name, allowed: some(size, 50) }));
    return { variables, limits, relations, wishes, order: roll() < 50 ? order : order.reverse() };
  });

/** n pigeons in n - 1 holes: impossible, and hard to prove. */
export function pigeons(count: number): Problem {
  const variables = Array.from({ length: count }, (_, index) => ({ name: `pigeon ${index}`, size: count - 1 }));
  const relations = variables.flatMap((left, i) =>
    variables.slice(i + 1).map((right) => ({
      source: `${left.name} ${right.name}`,
      left: left.name,
      right: right.name,
      allowed: Array.from({ length: count - 1 }, (_, hole) =>
        Array.from({ length: count - 1 }, (_, other) => other).filter((other) => other !== hole),
      ),
    })),
  );
  return { variables, limits: [], relations, order: variables.map(({ name }) => name) };
}

/** Whether all pigeons are to have a hole: it is easy to see that they need not, and hard to prove that they cannot. */
export function hardToProve(count: number): Problem {
  const { variables, relations } = pigeons(count);
  const outside = 0;
  const rooms = count;
  const every = Array.from({ length: rooms }, (_, value) => value);
  return {
    variables: [{ name: "all inside", size: 2 }, ...variables.map(({ name }) => ({ name, size: rooms }))],
    limits: [],
    relations: [
      ...relations.map((relation) => ({
        ...relation,
        allowed: every.map((hole) => every.filter((other) => hole === outside || other !== hole)),
      })),
      ...variables.map(({ name }) => ({
        source: `all inside ${name}`,
        left: "all inside",
        right: name,
        allowed: [every, every.filter((hole) => hole !== outside)],
      })),
    ],
    order: ["all inside"],
  };
}
