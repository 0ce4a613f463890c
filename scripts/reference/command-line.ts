// docs/reference/command-line.md: every command with its flags, variables and defaults, from the program itself.
import type { Argument, Command, Option } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import { code, generatedFrom, page, table } from "./markdown.ts";

export function commandLinePage(): string {
  const program = createProgram();
  return page([
    generatedFrom("src/cli"),
    "# Command line and configuration",
    "Every flag can also be given as an environment variable; flags win. Durations are Go durations (`90s`, `1h`). Answers are printed as `-o table`, `wide`, `json`, `yaml` or `name`; colours are for terminals only, and `NO_COLOR` turns them off.",
    table(
      ["Exit code", "Meaning"],
      [
        ["0", "It worked."],
        ["1", "It failed; the last line on standard error says what, and what to do."],
        [
          "2",
          "It worked, and the answer is no: something is unresolved, blocked, denied, failed its test or does not verify.",
        ],
        ["70", "A bug of ours; the trace on standard error is what to report."],
      ],
    ),
    ...program.commands
      .filter((command) => !isHidden(program, command))
      .flatMap((command) => sections(command, "capstan")),
  ]);
}

function sections(command: Command, parent: string): readonly string[] {
  const path = `${parent} ${command.name()}`;
  const heading = `## ${code([path, ...command.registeredArguments.map(argumentText)].join(" "))}`;
  return [
    heading,
    command.description(),
    optionTable(command.options.filter(({ hidden }) => !hidden)),
    ...command.commands.flatMap((child) => sections(child, path)),
  ];
}

const argumentText = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

function optionTable(options: readonly Option[]): string {
  if (options.length === 0) return "";
  const rows = options.map((option) => [
    code(option.flags),
    option.envVar === undefined ? "" : code(option.envVar),
    defaultText(option),
    option.argChoices ? `${option.description}; one of ${option.argChoices.map(code).join(", ")}` : option.description,
  ]);
  return table(["Flag", "Variable", "Default", "What it does"], rows);
}

function defaultText({ defaultValue, defaultValueDescription }: Option): string {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  if (defaultValue === undefined || defaultValue === false || defaultValue === "") return "";
  return code(typeof defaultValue === "string" ? defaultValue : JSON.stringify(defaultValue));
}

/** Commander keeps this to itself; what help does not show is not for people. */
const isHidden = (program: Command, command: Command): boolean =>
  !program.createHelp().visibleCommands(program).includes(command);
