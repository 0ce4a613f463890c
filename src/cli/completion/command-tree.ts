import type { Argument, Command, Option } from "commander";
import { supplierOf } from "./asking.ts";

/** What a shell needs to know of one command: the words that may follow it. Read from the commander program itself. */
export interface CommandNode {
  /** The words that lead here: `capstan audit list`. */
  readonly path: string;
  readonly description: string;
  readonly subcommands: readonly CommandNode[];
  readonly flags: readonly Flag[];
  /** What the first argument may be, where that is known. */
  readonly words: readonly string[];
  /** The places of arguments, from 1, whose names only a server knows. */
  readonly asked: readonly number[];
}

export interface Flag {
  /** `-o` and `--output`, as far as the flag has them. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Empty: any value, so that the shell offers files. */
  readonly values: readonly string[];
  /** Its values are names that only a server knows. */
  readonly isAsked: boolean;
}

/** What shells offer for an argument that may be other words, too. */
export function suggesting(argument: Argument, words: readonly string[]): Argument {
  suggestions.set(argument, words);
  return argument;
}
const suggestions = new WeakMap<Argument, readonly string[]>();

/** Only what `--help` shows: hidden commands are not for people. */
export function commandTree(command: Command, above = ""): CommandNode {
  const path = above === "" ? command.name() : `${above} ${command.name()}`;
  const help = command.createHelp();
  return {
    path,
    description: firstSentence(command.description()),
    subcommands: help.visibleCommands(command).map((child) => commandTree(child, path)),
    flags: help.visibleOptions(command).map(flagOf),
    words: command.registeredArguments
      .slice(0, 1)
      .flatMap((argument) => argument.argChoices ?? suggestions.get(argument) ?? []),
    asked: command.registeredArguments.flatMap((argument, index) => (supplierOf(argument) ? [index + 1] : [])),
  };
}

/** The places and flags for which the program itself is asked, as the scripts know them: `capstan explain 2`, `capstan explain -n`. */
export const askedPlaces = (nodes: readonly CommandNode[]): readonly string[] =>
  nodes.flatMap(({ path, asked, flags }) =>
    [...asked, ...flags.filter(({ isAsked }) => isAsked).flatMap(({ names }) => names)].map(
      (place) => `${path} ${place}`,
    ),
  );

/** The command and all below it. */
export function allNodes(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.subcommands.flatMap(allNodes)];
}

function flagOf(option: Option): Flag {
  const { short, long, description, required, optional, argChoices } = option;
  return {
    names: [short, long].filter((name) => name !== undefined),
    description: firstSentence(description),
    takesValue: required || optional,
    values: argChoices ?? [],
    isAsked: supplierOf(option) !== undefined,
  };
}

const firstSentence = (text: string): string => (/^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text).replace(/[.]$/, "");
