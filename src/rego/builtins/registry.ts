/** All built-ins by name. */
import { awsBuiltins } from "./aws.ts";
import { collectionBuiltins, walk } from "./collections.ts";
import { cryptoBuiltins } from "./crypto.ts";
import { encodingBuiltins } from "./encoding.ts";
import { globBuiltins } from "./glob.ts";
import { graphqlBuiltins } from "./graphql/builtins.ts";
import { httpBuiltins } from "./http.ts";
import { identifierBuiltins } from "./identifiers.ts";
import { jsonEditBuiltins } from "./json-edit.ts";
import { jwtBuiltins } from "./jwt.ts";
import { languageBuiltins } from "./language.ts";
import { netBuiltins } from "./net.ts";
import { numberBuiltins } from "./numbers.ts";
import type { Builtin, Builtins, Relation } from "./operands.ts";
import { outsideBuiltins } from "./outside.ts";
import { regexBuiltins } from "./regex.ts";
import { semverBuiltins } from "./semver.ts";
import { stringBuiltins } from "./strings.ts";
import { timeBuiltins } from "./time.ts";
import { unitBuiltins } from "./units.ts";

export type { Builtin, Relation } from "./operands.ts";

const families: readonly Builtins[] = [
  numberBuiltins,
  collectionBuiltins,
  stringBuiltins,
  encodingBuiltins,
  jsonEditBuiltins,
  regexBuiltins,
  globBuiltins,
  timeBuiltins,
  unitBuiltins,
  netBuiltins,
  semverBuiltins,
  identifierBuiltins,
  outsideBuiltins,
  httpBuiltins,
  cryptoBuiltins,
  jwtBuiltins,
  awsBuiltins,
  languageBuiltins,
  graphqlBuiltins,
];

export const builtins: ReadonlyMap<string, Builtin> = new Map(families.flatMap((family) => Object.entries(family)));

export const relations: ReadonlyMap<string, Relation> = new Map([["walk", walk]]);
