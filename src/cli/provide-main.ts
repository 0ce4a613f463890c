import { Command } from "commander";
import { provideCommand } from "./commands/provide.ts";

/** `capstan provide` alone: the demo's providers run beside everything else on a laptop, so they load no more than they need. */
await new Command("capstan").addCommand(provideCommand()).parseAsync(process.argv);
