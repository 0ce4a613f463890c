import { goQuote } from "../../go-text.ts";
import { type Parsed, parsed, refused } from "../../parsed.ts";
import { textFactor, times } from "../cost.ts";
import { declare, type FunctionDeclaration, fn, method, type Overload } from "../declaration.ts";
import { boolType, intType, libraryType, stringType } from "../type.ts";
import { CelError, type CelValue, Opaque, sizeOf } from "../value.ts";

export const semverType = libraryType("kubernetes.Semver");

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly preRelease: readonly string[];
}

class SemverValue extends Opaque {
  readonly type = semverType;
  readonly version: Version;
  constructor(version: Version) {
    super();
    this.version = version;
  }
  equals(other: CelValue): boolean {
    return other instanceof SemverValue && compareVersions(this.version, other.version) === 0;
  }
}

const S = semverType;
const of = (value: CelValue): Version => (value as SemverValue).version;
const compare = (left: CelValue, right: CelValue): number => compareVersions(of(left), of(right));
const reads: Pick<Overload, "cost" | "estimate"> = {
  cost: ([text = null]) => Math.ceil(sizeOf(text) * textFactor),
  estimate: ({ args: [text] }) => text && { cost: times(text.size, textFactor) },
};

/** Semantic versions: `semver("1.2.3").isLessThan(semver("v1.10", true))`. */
export const semverLibrary: readonly FunctionDeclaration[] = [
  declare(
    "semver",
    fn("string_to_semver", [stringType], S, make, reads),
    fn("string_bool_to_semver", [stringType, boolType], S, make, reads),
  ),
  declare(
    "isSemver",
    fn("is_semver_string", [stringType], boolType, (text) => make(text) instanceof SemverValue, reads),
    fn(
      "is_semver_string_bool",
      [stringType, boolType],
      boolType,
      (text, lenient) => make(text, lenient) instanceof SemverValue,
      reads,
    ),
  ),
  declare(
    "isGreaterThan",
    method("semver_is_greater_than", [S, S], boolType, (left, right) => compare(left, right) > 0),
  ),
  declare(
    "isLessThan",
    method("semver_is_less_than", [S, S], boolType, (left, right) => compare(left, right) < 0),
  ),
  declare(
    "compareTo",
    method("semver_compare_to", [S, S], intType, (left, right) => BigInt(compare(left, right))),
  ),
  declare(
    "major",
    method("semver_major", [S], intType, (value) => of(value).numbers[0]),
  ),
  declare(
    "minor",
    method("semver_minor", [S], intType, (value) => of(value).numbers[1]),
  ),
  declare(
    "patch",
    method("semver_patch", [S], intType, (value) => of(value).numbers[2]),
  ),
];

function make(text: CelValue, lenient: CelValue = false): CelValue {
  const written = lenient ? normalize(text as string) : parsed(text as string);
  const version = written.ok ? parseVersion(written.value) : written;
  return version.ok ? new SemverValue(version.value) : new CelError(version.message);
}

/** A leading `v`, missing parts and leading zeros are forgiven. */
function normalize(text: string): Parsed<string> {
  const [major = "", minor, ...rest] = text.replace(/^v/, "").split(".");
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join(".")])];
  const trimmed = parts.map((part) =>
    part.length > 1 ? part.replace(/^0+(?=\d)/, "").replace(/^0*(?!\d)/, "0") : part,
  );
  if (trimmed.length < 3 && /[+-]/.test(trimmed[trimmed.length - 1] ?? "")) {
    return refused("short version cannot contain PreRelease/Build meta data");
  }
  while (trimmed.length < 3) trimmed.push("0");
  return parsed(trimmed.join("."));
}

function parseVersion(text: string): Parsed<Version> {
  if (text === "") return refused("Version string empty");
  const parts = text.split(".");
  if (parts.length < 3) return refused("No Major.Minor.Patch elements found");
  const [, core = "", pre, build] = /^([^+-]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(text) ?? [];
  const numbers = core.split(".");
  for (const [index, name] of ["major", "minor", "patch"].entries()) {
    const digits = numbers[index] ?? "";
    if (!/^\d+$/.test(digits)) return refused(`Invalid character(s) found in ${name} number ${goQuote(digits)}`);
    if (digits.length > 1 && digits.startsWith("0")) {
      return refused(
        `${name[0]?.toUpperCase()}${name.slice(1)} number must not contain leading zeroes ${goQuote(digits)}`,
      );
    }
    if (BigInt.asUintN(64, BigInt(digits)) !== BigInt(digits)) {
      return refused(`strconv.ParseUint: parsing ${goQuote(digits)}: value out of range`);
    }
  }
  if (numbers.length > 3)
    return refused(`Invalid character(s) found in patch number ${goQuote(numbers.slice(2).join("."))}`);
  const preRelease = pre === undefined ? [] : pre.split(".");
  const wrong = preRelease.find((part) => !/^[0-9A-Za-z-]+$/.test(part) || /^0\d+$/.test(part));
  if (wrong === "") return refused("Prerelease is empty");
  if (wrong !== undefined && /^0\d+$/.test(wrong))
    return refused(`Numeric PreRelease version must not contain leading zeroes ${goQuote(wrong)}`);
  if (wrong !== undefined) return refused(`Invalid character(s) found in prerelease ${goQuote(wrong)}`);
  for (const part of build === undefined ? [] : build.split(".")) {
    if (part === "") return refused("Build meta data is empty");
    if (!/^[0-9A-Za-z-]+$/.test(part)) return refused(`Invalid character(s) found in build meta data ${goQuote(part)}`);
  }
  const [major = "0", minor = "0", patch = "0"] = numbers;
  return parsed({ numbers: [BigInt(major), BigInt(minor), BigInt(patch)], preRelease });
}

function compareVersions(left: Version, right: Version): number {
  for (const [index, number] of left.numbers.entries()) {
    const other = right.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (left.preRelease.length === 0 || right.preRelease.length === 0) {
    return (
      Math.sign(right.preRelease.length - left.preRelease.length) *
      (left.preRelease.length === right.preRelease.length ? 0 : 1)
    );
  }
  for (const [index, part] of left.preRelease.entries()) {
    const other = right.preRelease[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return left.preRelease.length < right.preRelease.length ? -1 : 0;
}

/** Numbers come before words and are compared as numbers. */
function compareParts(left: string, right: string): number {
  const [leftIsNumber, rightIsNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (leftIsNumber && rightIsNumber) {
    const [a, b] = [BigInt(left), BigInt(right)];
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}
