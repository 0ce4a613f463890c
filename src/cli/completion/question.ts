import type { Command, Option } from "commander";
import { type Supplier, supplierOf, type Typed } from "./asking.ts";

/** Whom to ask for the last of the words, and what was typed before it. */
export interface Question {
  readonly supplier: Supplier;
  readonly typed: Typed;
}

/** Reads the words after `capstan` as the program would; the last one is being typed. Undefined: nobody needs to be asked. */
export function questionOf(
  program: Command,
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): Question | undefined {
  // Bash splits --flag=value into three words, other shells leave it as one.
  const spread = given.flatMap((word) => /^(--[^=]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  const words = spread.filter((word, index) => word !== "=" || index === spread.length - 1);
  if (words.at(-1) === "=") words[words.length - 1] = "";
  let command = program;
  let before: string[] = [];
  const flags: Record<string, string> = {};
  for (let index = 0; index < words.length - 1; index++) {
    const word = words[index] ?? "";
    const option = optionOf(command, word);
    const child = before.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
    if (option && takesValue(option)) {
      if (index === words.length - 2)
        return questionFor(supplierOf(option), before, { ...usualFlags(command, environment), ...flags });
      flags[option.attributeName()] = words[++index] ?? "";
    } else if (child) {
      command = child;
      before = [];
    } else if (!word.startsWith("-")) before.push(word);
  }
  if (words.at(-1)?.startsWith("-")) return undefined;
  const argument = command.registeredArguments[before.length];
  return argument && questionFor(supplierOf(argument), before, { ...usualFlags(command, environment), ...flags });
}

const questionFor = (
  supplier: Supplier | undefined,
  words: readonly string[],
  flags: Typed["flags"],
): Question | undefined => supplier && { supplier, typed: { words, flags } };

/** What the program would take where nothing is typed: the environment's word, and defaults. */
const usualFlags = (
  { options }: Command,
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    options.flatMap((option) => {
      const usual = (option.envVar && environment[option.envVar]) ?? option.defaultValue;
      return takesValue(option) && typeof usual === "string" ? [[option.attributeName(), usual]] : [];
    }),
  );

const optionOf = (command: Command, word: string): Option | undefined =>
  command.options.find(({ short, long }) => word === short || word === long);

const takesValue = ({ required, optional }: Option): boolean => required || optional;
