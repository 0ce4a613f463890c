import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import { type Place, placeOf, stepsOf } from "./commands.ts";
import { allDocuments } from "./markdown.ts";

/** A command that stands in a sentence. */
export interface InlineCommand {
  readonly line: number;
  readonly text: string;
}

const programs =
  /^(npm|npx|capstan|kubectl|node|helm|git|curl|docker|podman|ctr|kind|k3d|skopeo|pg_dump|pg_restore|psql|sqlite3)\s\S/;

/** Code in prose that begins with a program; one that only names the program tells nobody to type anything. */
export function inlineCommands(markdown: string): readonly InlineCommand[] {
  const prose = markdown.replace(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ""));
  return [...prose.matchAll(/(?<!`)(`+)(?!`)([\s\S]+?)(?<!`)\1(?!`)/g)].flatMap(({ index, 2: code = "" }) => {
    // In a table a pipe must be escaped, and a long command may go on in the next line.
    const text = code.replaceAll("\\|", "|").replace(/\s+/g, " ").trim();
    return programs.test(text) ? [{ line: prose.slice(0, index).split("\n").length, text }] : [];
  });
}

/** What is wrong with a command of a sentence; undefined when it could be typed, given what its capital letters stand for. */
export function objectionTo(document: string, text: string): string | undefined {
  for (const part of text.split(" | ")) {
    const [program = "", ...words] = part.split(" ");
    const objection = checkers[program]?.(words, document, part) ?? unknownPlace(part, program);
    if (objection) return objection;
  }
  return undefined;
}

type Checker = (words: readonly string[], document: string, part: string) => string | undefined;

const checkers: Readonly<Record<string, Checker>> = {
  capstan: (words) => objectionToOwn(createProgram(), words),
  npx(words, document, part) {
    if (words[0] === "node") return undefined;
    return words[0] === "capstan" ? objectionTo(document, part.slice("npx ".length)) : "npx runs only capstan and node";
  },
  npm: objectionToNpm,
  node: ([file = ""]) => (existsSync(file) ? undefined : `there is no ${file}`),
};

/** Others' programs: only their verb is named, or some test types the command, or it is said why none does. */
function unknownPlace(part: string, program: string): string | undefined {
  if (checkers[program] || verbs.test(part) || isTyped(part) || placeOfProse(part)) return undefined;
  return "no test types this, and nothing says why";
}

/** A block of some document has it, alone or as the beginning of more, and a test types what is there. */
const isTyped = (part: string): boolean => typed().some((command) => `${command} `.includes(`${part} `));

let known: readonly string[] | undefined;
function typed(): readonly string[] {
  known ??= allDocuments().flatMap((document) =>
    stepsOf(readFileSync(document, "utf8")).flatMap(({ kind, text }) =>
      kind === "Command" && placeOf(document, text)?.kind !== "Nowhere" ? [text.replace(/\s+/g, " ")] : [],
    ),
  );
  return known;
}

/** Names of what a program can do, without an object: there is nothing to type. */
const verbs = /^(kubectl (apply|create|debug|describe|exec|explain|get|logs)|pg_dump|curl)( --(prune|server-side))?$/;

const prosePlaces: readonly { readonly pattern: RegExp; readonly place: Place }[] = [
  {
    pattern: /^kubectl rollout status\/history\/undo\/restart\/pause\/resume$/,
    place: { kind: "Elsewhere", file: "test/kubectl/scenarios.ts" },
  },
];
export const placeOfProse = (text: string): Place | undefined =>
  prosePlaces.find(({ pattern }) => pattern.test(text))?.place;

/** Follows the words through the program itself: commands, flags and the number of arguments must exist. */
function objectionToOwn(program: Command, words: readonly string[]): string | undefined {
  let command = program;
  let places = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "…") continue;
    if (word.startsWith("-")) {
      const [name = ""] = word.split("=");
      const option = command.options.find(({ short, long }) => name === short || name === long);
      if (!option) return `${command.name()} has no flag ${name}`;
      if ((option.required || option.optional) && !word.includes("=")) index++;
      continue;
    }
    // `approve|reject` speaks of several commands at once; each must be there, and the rest is held against the last.
    const children = word.split("|").map((name) => command.commands.find((child) => child.name() === name));
    const last = children.at(-1);
    if (last && children.every((child) => child !== undefined)) command = last;
    else if (command.commands.length > 0) return `${command.name()} has no command ${word}`;
    else if (++places > command.registeredArguments.length && !command.registeredArguments.at(-1)?.variadic)
      return `${command.name()} takes no argument ${word}`;
  }
  return undefined;
}

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: Record<string, string> };
const ownWords: readonly string[] = ["ci", "audit", "pack", "create", "install"];

function objectionToNpm([verb = "", ...rest]: readonly string[]): string | undefined {
  if (verb !== "run")
    return scripts[verb] || ownWords.includes(verb) ? undefined : `package.json has no script ${verb}`;
  const [name = "", ...more] = rest;
  if (!scripts[name]) return `package.json has no script ${name}`;
  const [, given, ...command] = more;
  if (given === undefined || /^[A-Z]+$/.test(given)) return undefined;
  if (name === "bench") return existsSync(`bench/${given}.ts`) ? undefined : `there is no benchmark ${given}`;
  if (name.startsWith("test:")) return existsSync(given) ? undefined : `there is no ${given}`;
  if (name === "cluster" && given === "npm") return objectionToNpm(command);
  return undefined;
}
