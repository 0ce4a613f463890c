/** All built-ins by name. */
import { collectionBuiltins, walk } from "./collections.ts";
import { numberBuiltins } from "./numbers.ts";
import type { Builtin, Builtins, Relation } from "./operands.ts";
import { stringBuiltins } from "./strings.ts";

export type { Builtin, Relation } from "./operands.ts";

const families: readonly Builtins[] = [numberBuiltins, collectionBuiltins, stringBuiltins];

export const builtins: ReadonlyMap<string, Builtin> = new Map(families.flatMap((family) => Object.entries(family)));

export const relations: ReadonlyMap<string, Relation> = new Map([["walk", walk]]);
