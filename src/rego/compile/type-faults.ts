/** What the type checker objects to. */
import type { Location } from "../syntax/ast.ts";
import { formatArguments, formatType } from "../types/format.ts";
import { isUnknown, type MaybeType } from "../types/types.ts";

export interface TypeFault {
  readonly loc: Location;
  readonly message: string;
  readonly details: readonly string[];
  /** A type was missing: then a fault in a ref or a comprehension of the expression is likely to be the reason. */
  readonly isUnknown: boolean;
}

export function matchFault(loc: Location, left: MaybeType, right: MaybeType): TypeFault {
  const kinds = new Map([
    ["object", "objects"],
    ["array", "arrays"],
    ["set", "sets"],
  ]);
  const both = left !== undefined && left.kind === right?.kind ? kinds.get(left.kind) : undefined;
  const details = [`left  : ${formatType(left)}`, `right : ${formatType(right)}`];
  if (both !== undefined) {
    details.push(`hint  : both sides are ${both} but their types differ, so they can never be equal`);
  }
  return { loc, message: "match error", details, isUnknown: isUnknown(left) || isUnknown(right) };
}

export interface WantedArguments {
  readonly args: readonly MaybeType[];
  readonly variadic?: MaybeType;
}

export function argumentFault(
  loc: Location,
  name: string,
  reason: string,
  have: readonly MaybeType[],
  want: WantedArguments,
): TypeFault {
  return {
    loc,
    message: `${name}: ${reason}`,
    details: [`have: ${formatArguments(have)}`, `want: ${formatArguments(want.args, want.variadic)}`],
    isUnknown: have.some(isUnknown),
  };
}
