import type { Argument, Command, Option } from "commander";

/** What a shell needs to know of one command: the words that may follow it. Read from the commander program itself. */
export interface CommandNode {
  /** The words that lead here: `capstan audit list`. */
  readonly path: string;
  readonly description: string;
  readonly subcommands: readonly CommandNode[];
  readonly flags: readonly Flag[];
  /** What the positional arguments may be, where that is known. */
  readonly words: readonly string[];
}

export interface Flag {
  /** `-o` and `--output`, as far as the flag has them. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Empty: any value, so that the shell offers files. */
  readonly values: readonly string[];
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
    words: command.registeredArguments.flatMap((argument) => argument.argChoices ?? suggestions.get(argument) ?? []),
  };
}

/** The command and all below it. */
export function allNodes(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.subcommands.flatMap(allNodes)];
}

function flagOf({ short, long, description, required, optional, argChoices }: Option): Flag {
  return {
    names: [short, long].filter((name) => name !== undefined),
    description: firstSentence(description),
    takesValue: required || optional,
    values: argChoices ?? [],
  };
}

const firstSentence = (text: string): string => (/^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text).replace(/[.]$/, "");
