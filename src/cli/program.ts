import { Command } from "commander";
import packageFile from "../../package.json" with { type: "json" };
import { actCommand } from "./commands/act.ts";
import { approveCommand, rejectCommand } from "./commands/approve.ts";
import { auditCommand } from "./commands/audit.ts";
import { completeCommand } from "./commands/complete.ts";
import { completionCommand } from "./commands/completion.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { explainCommand } from "./commands/explain.ts";
import { installCommand } from "./commands/install.ts";
import { prepareMinecraftCommand } from "./commands/prepare-minecraft.ts";
import { provideCommand } from "./commands/provide.ts";
import { regoCommand } from "./commands/rego.ts";
import { resolveCommand } from "./commands/resolve.ts";
import { runCommand } from "./commands/run.ts";
import { servicesCommand } from "./commands/services.ts";
import { solveCommand } from "./commands/solve.ts";
import { upCommand } from "./commands/up.ts";

/** The whole command line. Each command is one file that reads its flags and calls into the rooms. */
export function createProgram(): Command {
  const program = new Command("capstan")
    .description("A capability control plane for Kubernetes: on a laptop in one process, or on any cluster.")
    .version(packageFile.version, "-V, --version", "print the version")
    .showHelpAfterError("(add --help for the flags)")
    .configureHelp({ showGlobalOptions: true })
    .enablePositionalOptions()
    .addHelpText(
      "after",
      `
Examples:
  capstan up --demo                                      everything in one process, with something to look at
  capstan explain world stormy-world -n anvil-demo       why something is as it is
  capstan resolve -f examples/game-platform              who would be bound to whom; no cluster needed
  capstan install | kubectl apply --server-side -f -     put it on a cluster

Exit codes: 0 it worked, 1 it failed, 2 it worked and the answer is no, 70 a bug of ours.
`,
    );
  for (const command of [
    upCommand(),
    runCommand(),
    installCommand(),
    resolveCommand(),
    solveCommand(),
    explainCommand(),
    regoCommand(),
    approveCommand(),
    rejectCommand(),
    auditCommand(),
    servicesCommand(),
    doctorCommand(),
    completionCommand(program),
  ]) {
    program.addCommand(command);
  }
  // What our own pods and the scripts of shells run; not for people.
  for (const command of [actCommand(), prepareMinecraftCommand(), provideCommand(), completeCommand(program)])
    program.addCommand(command, { hidden: true });
  sayHelpAlike(program);
  return program;
}

function sayHelpAlike(command: Command): void {
  command.helpOption("-h, --help", "show help");
  if (command.commands.length > 0) command.helpCommand("help [command]", "Show help for a command.");
  for (const child of command.commands) sayHelpAlike(child);
}
