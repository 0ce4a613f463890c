// Replays the operations that structured-merge-diff's own tests make, and compares objects, owners and conflicts:
// `npm run conformance:apply -- FILE`. A line of the file is a schema or one operation with what it must lead to.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { type CompiledSchema, compileSchema, type Type } from "../../src/kube/apply/compile.ts";
import { conflictText } from "../../src/kube/apply/conflict.ts";
import { excludeFields, type FieldFilter } from "../../src/kube/apply/field-filter.ts";
import { type FieldsV1, readFieldsV1, writeFieldsV1 } from "../../src/kube/apply/fields-v1.ts";
import { equalJson, isList, isMap } from "../../src/kube/apply/json-value.ts";
import { displayPath, fieldElement } from "../../src/kube/apply/path-element.ts";
import type { TypeReference, TypeSchema } from "../../src/kube/apply/type-schema.ts";
import type { TypedValue } from "../../src/kube/apply/typed-value.ts";
import {
  applyConfiguration,
  type Conflict,
  type Managers,
  type Ownership,
  type Updater,
  updateOwnership,
} from "../../src/kube/apply/updater.ts";
import { typeErrorText, validateTyped } from "../../src/kube/apply/validate.ts";

export interface Results {
  readonly passed: number;
  readonly failures: readonly string[];
}

export const defaultCasesFile = (): string =>
  `${process.env["CAPSTAN_CASES"] ?? `${import.meta.dirname}/../../../shared/data`}/structured-merge-diff.jsonl`;

export function runCases(text: string): Results {
  const schemas = new Map<string, TypeSchema>();
  const cases = new Map<number, Operation[]>();
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const entry = JSON.parse(line) as SchemaLine | Operation;
    if ("yaml" in entry) schemas.set(entry.schema, parse(entry.yaml) as TypeSchema);
    else cases.set(entry.case, [...(cases.get(entry.case) ?? []), entry]);
  }
  const compiled = new Map([...schemas].map(([name, schema]) => [name, compileSchema(schema)]));
  const results = [...cases.values()].map((operations) => runCase(compiled, operations));
  return {
    passed: results.reduce((sum, result) => sum + result.passed, 0),
    failures: results.flatMap((result) => result.failures),
  };
}

interface SchemaLine {
  readonly schema: string;
  readonly yaml: string;
}

interface Operation {
  readonly case: number;
  readonly test: string;
  readonly converter: string;
  readonly flags: { readonly ignored: boolean };
  readonly op: "apply" | "update";
  readonly schema: string;
  readonly typeRef: string;
  readonly manager: string;
  readonly version: string;
  readonly force: boolean;
  readonly liveBefore: unknown;
  readonly managersBefore: Readonly<Record<string, ManagerLine>>;
  readonly object: unknown;
  readonly result: unknown;
  readonly managersAfter: Readonly<Record<string, ManagerLine>>;
  readonly error?: string;
  readonly conflicts?: readonly { readonly manager: string; readonly path: string }[];
}

interface ManagerLine {
  readonly applied: boolean;
  readonly version: string;
  readonly fieldsV1: FieldsV1;
}

type Filters = ReadonlyMap<string, FieldFilter>;

const path = (...names: readonly string[]): readonly string[] => names.map(fieldElement);

/**
 * The file says that a case ignores fields, but not which. These are the settings that the upstream tests use; a case
 * passes when one of them explains all of its operations.
 */
const ignoreSettings: readonly Filters[] = [
  new Map([["v1", excludeFields(path("string"), path("obj"))]]),
  new Map(
    ["c", "cc", "ccc", "cccc"].map((name, index) => [`v${index + 1}`, excludeFields(path("mapOfMapsRecursive", name))]),
  ),
  new Map([["v2", excludeFields(path("mapOfMapsRecursive", "c"))]]),
];

function runCase(schemas: ReadonlyMap<string, CompiledSchema>, operations: readonly Operation[]): Results {
  const settings = operations.some(({ flags }) => flags.ignored) ? ignoreSettings : [new Map() as Filters];
  const attempts = settings.map((filters) => runWith(schemas, operations, filters));
  const best = attempts.reduce((left, right) => (right.failures.length < left.failures.length ? right : left));
  return best;
}

function runWith(
  schemas: ReadonlyMap<string, CompiledSchema>,
  operations: readonly Operation[],
  filters: Filters,
): Results {
  const failures = operations.flatMap((operation, index) => {
    const name = `case ${operation.case}, operation ${index + 1} (${operation.test || "unnamed"})`;
    const schema = schemas.get(operation.schema);
    if (!schema) return [`${name}: the schema ${operation.schema} is not in the file`];
    const found = differences(operation, execute(schema, operation, { filters }));
    if (found.length > 0 && mayHaveLostVersion(operation)) {
      if (differences(operation, execute(schema, operation, { filters, lost: "v1" })).length === 0) return [];
    }
    return found.map((difference) => `${name}: ${difference}`);
  });
  const failed = new Set(failures.map((failure) => failure.split(": ")[0]));
  return { passed: operations.length - failed.size, failures };
}

/**
 * The upstream tests of versions that are no longer served take version 1 away between two operations. The file shows these
 * operations at the end of the case before them, with that case's converter, so the loss has to be guessed.
 */
const mayHaveLostVersion = ({ converter, version, managersBefore }: Operation): boolean =>
  converter === "*fixture.dummyConverter" &&
  version !== "v1" &&
  Object.values(managersBefore).some((manager) => manager.version === "v1");

interface Setting {
  readonly filters: Filters;
  /** A version that cannot be converted to. */
  readonly lost?: string;
}

type Outcome =
  | { readonly kind: "Done"; readonly value: unknown; readonly managers: Managers }
  | { readonly kind: "Conflict"; readonly conflicts: readonly Conflict[] }
  | { readonly kind: "Refused"; readonly message: string };

function execute(schema: CompiledSchema, operation: Operation, { filters, lost }: Setting): Outcome {
  const { version, manager } = operation;
  const type = schema.resolve(parse(operation.typeRef) as TypeReference);
  const live = { type, value: operation.liveBefore };
  const object = { type, value: operation.object };
  const errors = validateTyped(object, operation.op === "apply" ? "refused" : "allowed");
  if (errors.length > 0) return { kind: "Refused", message: typeErrorText(errors) };
  const convert = converterOf(schema, operation);
  const updater: Updater = {
    convert: (value, to) => (to === lost ? undefined : convert(value, to)),
    filters,
  };
  const managers = new Map(Object.entries(operation.managersBefore).map(([name, line]) => [name, readManager(line)]));
  try {
    if (operation.op === "update") {
      const after = updateOwnership(updater, { live, updated: object, version, managers, manager });
      return { kind: "Done", value: object.value, managers: after };
    }
    const request = { live, applied: object, version, managers, manager, force: operation.force };
    const outcome = applyConfiguration(updater, request);
    if (outcome.kind === "Conflict") return outcome;
    return { kind: "Done", value: outcome.value?.value ?? null, managers: outcome.managers };
  } catch (error) {
    return { kind: "Refused", message: String(error) };
  }
}

function readManager(line: ManagerLine): Ownership {
  const read = readFieldsV1(line.fieldsV1);
  if (read.kind === "Malformed") throw new Error(`a manager of the file has malformed fields: ${read.message}`);
  return { set: read.set, version: line.version, applied: line.applied };
}

/** What differs from what the file says, in sentences. */
function differences(operation: Operation, outcome: Outcome): readonly string[] {
  if (operation.conflicts) {
    if (outcome.kind !== "Conflict") return [`expected a conflict, got ${describe(outcome)}`];
    const found = outcome.conflicts.map(({ manager, path }) => `${manager} ${displayPath(path)}`).sort();
    const wanted = operation.conflicts.map(({ manager, path }) => `${manager} ${path}`).sort();
    if (!equalJson(found, wanted)) return [`expected conflicts ${wanted.join(", ")}, got ${found.join(", ")}`];
    const text = conflictText(outcome.conflicts);
    return text === operation.error ? [] : [`expected the message ${operation.error}, got ${text}`];
  }
  if (operation.error !== undefined) return outcome.kind === "Done" ? [`expected the error ${operation.error}`] : [];
  if (outcome.kind !== "Done") return [`expected success, got ${describe(outcome)}`];
  const found: string[] = [];
  if (!equalJson(outcome.value, operation.result)) {
    found.push(`expected the object ${JSON.stringify(operation.result)}, got ${JSON.stringify(outcome.value)}`);
  }
  const managers = Object.fromEntries(
    [...outcome.managers].map(([name, { set, version, applied }]) => [
      name,
      { applied, fieldsV1: writeFieldsV1(set), version },
    ]),
  );
  if (!equalJson(managers, operation.managersAfter)) {
    found.push(`expected the managers ${JSON.stringify(operation.managersAfter)}, got ${JSON.stringify(managers)}`);
  }
  return found;
}

function describe(outcome: Outcome): string {
  if (outcome.kind === "Conflict") return conflictText(outcome.conflicts);
  return outcome.kind === "Refused" ? `the error ${outcome.message}` : "success";
}

/** The upstream tests convert with toys of their own; each is rebuilt here from what it does. */
function converterOf(schema: CompiledSchema, operation: Operation): Updater["convert"] {
  const typeName = (value: TypedValue, versions: readonly string[]): string | undefined =>
    versions.find((version) => schema.type(version) === value.type);
  const versions = ["v1", "v2", "v3", "v4"];
  switch (operation.converter.replace(/^\*/, "")) {
    case "fixture.dummyConverter":
      return (value) => value;
    case "merge_test.repeatingConverter":
      return (value, version) => {
        const count = /^v(\d+)$/.exec(version)?.[1];
        return count === undefined ? undefined : { type: value.type, value: repeatNames(value.value, Number(count)) };
      };
    case "merge_test.renamingConverter":
      return (value, version) => {
        const from = typeName(value, versions) ?? operation.version;
        return { type: schema.type(version), value: renameFields(value.value, from, version) };
      };
    case "merge_test.reliantFieldsConverter":
      return (value, version) =>
        convertReliantFields(value, typeName(value, versions), version, (name) => schema.type(name));
    default:
      throw new Error(`the converter ${operation.converter} is not known here`);
  }
}

/** `a: {b: null}` in version 3 is `aaa: {bbb: null}`; the outermost name stays. Of two names that become one, the last wins. */
function repeatNames(value: unknown, count: number): unknown {
  if (!isMap(value)) return value;
  const repeat = (inner: unknown): unknown =>
    isMap(inner) && Object.keys(inner).length > 0
      ? Object.fromEntries(
          Object.entries(inner)
            .sort(([left], [right]) => (left < right ? -1 : 1))
            .map(([name, member]) => [name.slice(0, 1).repeat(count), repeat(member)]),
        )
      : null;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, repeat(inner)]));
}

/** `name_v1` in version 2 is `name_v2`. */
function renameFields(value: unknown, from: string, to: string): unknown {
  if (isList(value)) return value.map((item) => renameFields(item, from, to));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.endsWith(from) ? name.slice(0, name.length - from.length) + to : name,
      renameFields(member, from, to),
    ]),
  );
}

/** Version 1 cannot be made of an object that lacks the field that version 2 requires. */
function convertReliantFields(
  value: TypedValue,
  from: string | undefined,
  to: string,
  typeOf: (version: string) => Type,
): TypedValue | undefined {
  if (from === to) return value;
  if (to !== "v1" && to !== "v2") return undefined;
  const [old, next] =
    to === "v1" ? ["required_field_bar", "field_foo_rely_on_bar"] : ["field_foo_rely_on_bar", "required_field_bar"];
  const fields = isMap(value.value) ? value.value : {};
  if (to === "v1" && !Object.hasOwn(fields, old)) throw new Error("missing required field bar");
  const renamed = Object.entries(fields).map(([name, member]) => [name === old ? next : name, member]);
  return { type: typeOf(to), value: isMap(value.value) ? Object.fromEntries(renamed) : value.value };
}

function main(): number {
  const file = process.argv[2] ?? defaultCasesFile();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    console.error(
      `The case file ${file} cannot be read. Name one, or set CAPSTAN_CASES to the folder that holds structured-merge-diff.jsonl.`,
    );
    return 2;
  }
  const { passed, failures } = runCases(text);
  for (const failure of failures) console.log(`FAILED ${failure}`);
  const failed = new Set(failures.map((failure) => failure.split(": ")[0])).size;
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
