import { homedir } from "node:os";
import { Argument, Command } from "commander";
import { wakefulEnv } from "../../env/system.ts";
import { questionOf } from "../completion/question.ts";
import { parseDurationFlag, setting } from "../settings.ts";

/**
 * `capstan complete -- WORDS`: what the scripts of `capstan completion` ask when somebody presses Tab; not for people. Never
 * says what went wrong: whoever completes a line does not want to read about it in the middle of it.
 */
export function completeCommand(program: Command): Command {
  return new Command("complete")
    .description("Print what the last of these words may be, one to a line.")
    .addArgument(new Argument("[words...]", "the line so far, after `capstan`"))
    .addOption(
      setting("--completion-timeout <duration>", "when to give up")
        .argParser(parseDurationFlag)
        .default(usualPatienceMs, "900ms"),
    )
    .addHelpText("after", "\nExamples:\n  capstan complete -- explain world -n anvil-demo sto\n")
    .action(async (words: readonly string[], { completionTimeout }: { readonly completionTimeout: number }) => {
      const found = await Promise.race([candidates(program, words), patience(completionTimeout)]).catch(() => []);
      process.stdout.write(found.map((name) => `${name}\n`).join(""), () => process.exit(0));
    });
}

/** Together with its start still about a second: nobody waits longer for a Tab. */
const usualPatienceMs = 900;

async function candidates(program: Command, words: readonly string[]): Promise<readonly string[]> {
  const question = questionOf(program, words, process.env);
  if (!question) return [];
  const { words: before, flags } = question.typed;
  return question.supplier({ words: before, flags: mapValues(flags, fromHome) });
}

/** Shells hand over what was typed, before they would replace the sign. */
const fromHome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir());

const mapValues = (record: Readonly<Record<string, string>>, map: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

const patience = (delayMs: number): Promise<readonly string[]> =>
  new Promise((resolve) => wakefulEnv.setTimer(delayMs, () => resolve([])));
