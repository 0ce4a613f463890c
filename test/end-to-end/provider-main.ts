import { Command } from "commander";
import { provideCommand } from "../../src/cli/commands/provide.ts";

/** `capstan` with the one command that the demo's providers run: a process that starts quickly. */
await new Command("capstan").addCommand(provideCommand()).parseAsync(process.argv);
