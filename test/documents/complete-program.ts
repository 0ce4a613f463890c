/** `capstan` as the documents have it: the program, with those commands added that it does not list yet. */
import type { Command } from "commander";
import { completionCommand } from "../../src/cli/commands/completion.ts";
import { doctorCommand } from "../../src/cli/commands/doctor.ts";
import { servicesCommand } from "../../src/cli/commands/services.ts";
import { createProgram } from "../../src/cli/program.ts";

export function completeProgram(): Command {
  const program = createProgram();
  const present = new Set(program.commands.map((command) => command.name()));
  for (const command of [doctorCommand(), completionCommand(program), servicesCommand()])
    if (!present.has(command.name())) program.addCommand(command);
  return program;
}

if (import.meta.main) await completeProgram().parseAsync(process.argv);
