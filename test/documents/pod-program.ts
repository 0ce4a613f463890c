import { Command } from "commander";
import { actCommand } from "../../src/cli/commands/act.ts";
import { prepareMinecraftCommand } from "../../src/cli/commands/prepare-minecraft.ts";
import { provideCommand } from "../../src/cli/commands/provide.ts";

/** `capstan` with what our own pods run: from the sources it starts in a fraction of the time that the whole takes. */
const program = new Command("capstan");
for (const command of [actCommand(), prepareMinecraftCommand(), provideCommand()]) program.addCommand(command);
await program.parseAsync(process.argv);
