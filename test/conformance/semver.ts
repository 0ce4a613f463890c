// Runs a table of version constraints: `npm run conformance:semver [-- FILE]`. Each row says whether a version satisfies
// a constraint. The last line is `N passed, N failed`.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSemVer } from "../../src/versions/semver.ts";
import { parseConstraint, satisfies } from "../../src/versions/semver-constraint.ts";

interface Row {
  readonly constraint: string;
  readonly version: string;
  readonly satisfied: boolean;
  readonly includePrerelease?: boolean;
}

export function failuresOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap((row) => {
    const found = answer(row);
    return found === row.satisfied ? [] : [`${JSON.stringify(row)}: answered ${found}`];
  });
}

export const casesFile = (name: string): string =>
  join(process.env["CAPSTAN_CASES"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url)), name);

function answer({ constraint, version, includePrerelease }: Row): boolean | string {
  const parsedConstraint = parseConstraint(constraint);
  if (!parsedConstraint.ok) return `constraint, column ${parsedConstraint.column}: ${parsedConstraint.message}`;
  const parsedVersion = parseSemVer(version);
  if (!parsedVersion.ok) return `version, column ${parsedVersion.column}: ${parsedVersion.message}`;
  return satisfies(parsedVersion.version, parsedConstraint.constraint, includePrerelease);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? casesFile("semver-constraints.json");
  if (!existsSync(file)) {
    console.error(
      `${file} does not exist: name a file of cases, or set CAPSTAN_CASES to the folder that has semver-constraints.json`,
    );
    process.exit(2);
  }
  const rows = JSON.parse(readFileSync(file, "utf8")) as readonly Row[];
  const failures = failuresOf(rows);
  for (const failure of failures) console.log(failure);
  console.log(`${rows.length - failures.length} passed, ${failures.length} failed`);
  process.exit(failures.length > 0 ? 1 : 0);
}
