import { add, fixed, multiply, times } from "../cost.ts";
import { declare, type FunctionDeclaration, fn } from "../declaration.ts";
import { boolType, listType, paramType } from "../type.ts";
import { type CelList, type CelValue, sizeOf } from "../value.ts";
import { deepWork } from "../work.ts";
import { contains } from "./standard.ts";

const listOfT = listType(paramType("T"));

/** Lists taken as sets. */
export const setsLibrary: readonly FunctionDeclaration[] = [
  setFunction("contains", containsAll, 1),
  setFunction("intersects", intersects, 1),
  setFunction("equivalent", areEquivalent, 2),
];

/** Every item of one is compared with every item of the other, once or in both directions. */
function setFunction(
  name: string,
  call: (left: CelValue, right: CelValue) => CelValue,
  directions: 1 | 2,
): FunctionDeclaration {
  return declare(
    `sets.${name}`,
    fn(`list_sets_${name}_list`, [listOfT, listOfT], boolType, call, {
      cost: ([left = null, right = null]) => 1 + sizeOf(left) * sizeOf(right) * directions,
      work: ([left = null, right = null]) => deepWork(left) * Math.max(1, sizeOf(right)),
      estimate: ({ args: [left, right] }) =>
        left && right && { cost: add(times(multiply(left.size, right.size), directions), fixed(1)) },
    }),
  );
}

function containsAll(list: CelValue, part: CelValue): CelValue {
  for (const item of part as CelList) {
    const found = contains(list, item);
    if (found !== true) return found;
  }
  return true;
}

function intersects(left: CelValue, right: CelValue): CelValue {
  for (const item of left as CelList) if (contains(right, item) === true) return true;
  return false;
}

function areEquivalent(left: CelValue, right: CelValue): CelValue {
  const contained = containsAll(left, right);
  return contained === true ? containsAll(right, left) : contained;
}
