import { Argument, Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { type CommandNode, commandTree } from "../completion/command-tree.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";

/** `capstan completion SHELL`: a script that is made from the program's own commands and flags, so that it is never behind. */
export function completionCommand(program: Command): Command {
  return new Command("completion")
    .description("Print a script that completes capstan's commands, flags and the names of objects in your shell.")
    .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(shells)))
    .addHelpText(
      "after",
      "\nNames of objects and namespaces are asked of the instance that the command line so far would speak to. Whoever does not answer\nwithin 900ms (CAPSTAN_COMPLETION_TIMEOUT) is not waited for.\n\nExamples:\n  source <(capstan completion bash)      # in ~/.bashrc\n  source <(capstan completion zsh)       # in ~/.zshrc, after compinit\n  capstan completion fish | source       # in ~/.config/fish/config.fish\n",
    )
    .action((shell: keyof typeof shells) => {
      process.stdout.write(shells[shell](commandTree(program)));
    });
}

const shells = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Readonly<Record<string, (root: CommandNode) => string>>;
