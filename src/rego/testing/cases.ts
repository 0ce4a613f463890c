/** The cases of one test: those in its document, and those that were begun and are not there. */
import { formatValue } from "../values/format.ts";
import { jsonFields } from "../values/json.ts";
import { isArray, RegoObject, type Value } from "../values/value.ts";

export interface TestCase {
  readonly name: string;
  failed: boolean;
  readonly cases: Map<string, TestCase>;
}

export type TestCases = ReadonlyMap<string, TestCase>;

/** `begun` are the names of every case that the test came to. */
export function casesOf(document: Value, begun: readonly Value[]): TestCases {
  const cases = casesIn(document);
  for (const path of begun) if (isArray(path)) addCase(cases, path.map(nameOf));
  return cases;
}

export function hasFailedCase(cases: TestCases): boolean {
  return [...cases.values()].some(({ failed }) => failed);
}

/** Depth first, by name, with how deep each one is. */
export function* eachCase(cases: TestCases, depth = 0): Iterable<{ readonly item: TestCase; readonly depth: number }> {
  for (const [, item] of [...cases].sort(([left], [right]) => (left < right ? -1 : 1))) {
    yield { item, depth };
    yield* eachCase(item.cases, depth + 1);
  }
}

function casesIn(document: Value): Map<string, TestCase> {
  const cases = new Map<string, TestCase>();
  if (!(document instanceof RegoObject)) return cases;
  for (const [name, value] of jsonFields(document)) {
    const inner = casesIn(value);
    const failed = value instanceof RegoObject ? hasFailedCase(inner) : value !== true;
    cases.set(name, { name, failed, cases: inner });
  }
  return cases;
}

function addCase(cases: Map<string, TestCase>, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return false;
  const known = cases.get(name);
  const item = known ?? { name, failed: true, cases: new Map() };
  cases.set(name, item);
  if (rest.length > 0 && addCase(item.cases, rest)) item.failed = true;
  return item.failed;
}

function nameOf(value: Value): string {
  return typeof value === "string" ? value : formatValue(value);
}
