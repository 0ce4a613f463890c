/** `semver.compare` and `semver.is_valid`: strict SemVer 2.0. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { type Builtins, stringAt } from "./operands.ts";

export const semverBuiltins: Builtins = {
  "semver.is_valid": (args) => {
    const [text] = args;
    return typeof text === "string" && parse(text) !== undefined;
  },
  "semver.compare": (args) => {
    const texts = [stringAt(args, 0), stringAt(args, 1)];
    const [left, right] = texts.map((text, index) => {
      const version = parse(text);
      if (version === undefined)
        throw new BuiltinFault(`operand ${index + 1}: string ${JSON.stringify(text)} is not a valid SemVer`);
      return version;
    });
    return left === undefined || right === undefined ? undefined : compare(left, right);
  },
};

interface Version {
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];
}

const pattern =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function parse(text: string): Version | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const pre = match[4] === undefined ? [] : match[4].split(".");
  if (pre.some((part) => /^0\d+$/.test(part))) return undefined;
  return { numbers: match.slice(1, 4).map((part) => BigInt(part ?? "0")), pre };
}

function compare(left: Version, right: Version): number {
  for (let index = 0; index < 3; index++) {
    const a = left.numbers[index] ?? 0n;
    const b = right.numbers[index] ?? 0n;
    if (a !== b) return a < b ? -1 : 1;
  }
  if (left.pre.length === 0 || right.pre.length === 0) return Math.sign(right.pre.length - left.pre.length);
  for (let index = 0; index < Math.max(left.pre.length, right.pre.length); index++) {
    const a = left.pre[index];
    const b = right.pre[index];
    if (a === undefined) return -1;
    if (b === undefined) return 1;
    const order = compareIdentifiers(a, b);
    if (order !== 0) return order;
  }
  return 0;
}

function compareIdentifiers(a: string, b: string): number {
  const aIsNumber = /^\d+$/.test(a);
  const bIsNumber = /^\d+$/.test(b);
  if (aIsNumber && bIsNumber) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
