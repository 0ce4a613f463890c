import { type FunctionDeclaration, type Library, mergeLibraries } from "../declaration.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "../type.ts";
import { addressLibrary, cidrType, ipType } from "./addresses.ts";
import { formatLibrary, formatType } from "./formats.ts";
import { listsLibrary } from "./lists.ts";
import { mapsLibrary } from "./maps.ts";
import { optionalLibrary } from "./optional.ts";
import { quantityLibrary, quantityType } from "./quantities.ts";
import { regexLibrary } from "./regex.ts";
import { semverLibrary, semverType } from "./semvers.ts";
import { setsLibrary } from "./sets.ts";
import { standardLibrary } from "./standard.ts";
import { stringsLibrary } from "./strings.ts";
import { urlLibrary, urlType } from "./urls.ts";

/** All functions that an expression in Kubernetes 1.36 may use; the authorizer belongs to the server and comes on top. */
const all: readonly (readonly FunctionDeclaration[])[] = [
  standardLibrary,
  stringsLibrary,
  regexLibrary,
  urlLibrary,
  listsLibrary,
  setsLibrary,
  mapsLibrary,
  optionalLibrary,
  quantityLibrary,
  addressLibrary,
  formatLibrary,
  semverLibrary,
];

export const kubernetesLibrary: Library = mergeLibraries(...all);

export const withFunctions = (...more: readonly (readonly FunctionDeclaration[])[]): Library =>
  mergeLibraries(...all, ...more);

/** The types that an expression may name. */
export const kubernetesTypes: ReadonlyMap<string, CelType> = new Map(
  [
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    listType(dynType),
    mapType(dynType, dynType),
    nullType,
    stringType,
    timestampType,
    typeType(),
    uintType,
    optionalType(dynType),
    quantityType,
    ipType,
    cidrType,
    formatType,
    semverType,
    urlType,
  ].map((type) => [type.name, type]),
);
