/**
 * A choice of one version for each of several things. Values are positions in a list from oldest to newest; everything
 * that limits the choice carries the name of the user's object that it comes from, so that an answer can be explained.
 */
export interface Problem {
  readonly variables: readonly Variable[];
  readonly limits: readonly Limit[];
  readonly relations: readonly Relation[];
  /**
   * Limits that are kept where possible, the most important first: each is kept if those before it allow it. They come
   * before everything in `order`.
   */
  readonly wishes?: readonly Limit[];
  /** Variables from the most to the least important: each is as new as those before it allow. */
  readonly order: readonly string[];
}

export interface Variable {
  readonly name: string;
  /** How many values there are; the newest is `size - 1`. */
  readonly size: number;
  /** The value that it has now. Variables outside `order` keep it if they can. */
  readonly current?: number;
}

/** A pin, a filter, a floor: the variable takes one of these values. */
export interface Limit {
  readonly source: string;
  readonly variable: string;
  readonly allowed: readonly number[];
}

/** What two variables may be together: for each value of the left one the values of the right one that go with it. */
export interface Relation {
  readonly source: string;
  readonly left: string;
  readonly right: string;
  readonly allowed: readonly (readonly number[])[];
}

export type Assignment = ReadonlyMap<string, number>;

/** A mistake in a problem is a bug of whoever made it, so it is thrown. */
export function checkProblem({ variables, limits, relations, wishes = [], order }: Problem): void {
  const sizes = new Map<string, number>();
  for (const { name, size, current } of variables) {
    if (sizes.has(name)) throw new RangeError(`there are two variables ${name}`);
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`variable ${name} has no value`);
    if (current !== undefined && !(current >= 0 && current < size))
      throw new RangeError(`variable ${name} has the current value ${current} of ${size}`);
    sizes.set(name, size);
  }
  const sizeOf = (name: string, where: string): number => {
    const size = sizes.get(name);
    if (size === undefined) throw new RangeError(`${where} names the unknown variable ${name}`);
    return size;
  };
  for (const { source, variable } of limits) sizeOf(variable, `a limit of ${source}`);
  for (const { source, variable } of wishes) sizeOf(variable, `a wish of ${source}`);
  for (const { source, left, right, allowed } of relations) {
    sizeOf(right, `a relation of ${source}`);
    if (left === right) throw new RangeError(`a relation of ${source} relates ${left} to itself`);
    if (allowed.length !== sizeOf(left, `a relation of ${source}`))
      throw new RangeError(`a relation of ${source} does not speak of every value of ${left}`);
  }
  for (const name of order) sizeOf(name, "the order");
}

/** Whether an assignment keeps every limit and relation. */
export function isConsistent(
  { limits, relations }: Pick<Problem, "limits" | "relations">,
  assignment: Assignment,
): boolean {
  return (
    limits.every((limit) => isKept(limit, assignment)) &&
    relations.every(
      ({ left, right, allowed }) => allowed[assignment.get(left) ?? -1]?.includes(assignment.get(right) ?? -1) ?? false,
    )
  );
}

export const isKept = ({ variable, allowed }: Limit, assignment: Assignment): boolean =>
  allowed.includes(assignment.get(variable) ?? -1);
