import { existsSync, readFileSync } from "node:fs";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { systemEnv } from "../../env/system.ts";
import { type CommandResult, checkCommand, type EvalFormat, evalCommand, testCommand } from "../../rego/commands.ts";
import type { RegoEnv } from "../../rego/evaluate/machine.ts";
import type { ExplainMode } from "../../rego/explain.ts";
import type { PolicyFile } from "../../rego/load.ts";
import { Failure, failClearly } from "../failure.ts";
import { MissingFile, readBundle, readPolicyFiles } from "../policy-files.ts";
import { synchronousHttp } from "../synchronous-http.ts";
import { whyUnreadable } from "../unreadable.ts";

/** `capstan rego eval|test|check`: policies, as users of `opa` expect it. */
export function regoCommand(): Command {
  return new Command("rego")
    .description("Evaluate, test and check Rego policies.")
    .addCommand(evaluateCommand())
    .addCommand(testsCommand())
    .addCommand(checksCommand())
    .addHelpText(
      "after",
      "\nExamples:\n  capstan rego eval -d policy.rego -i input.json 'data.authz.allow'\n  capstan rego test policies\n  capstan rego check policies\n",
    );
}

interface CommonFlags {
  readonly allowNet?: boolean;
  readonly v0Compatible?: boolean;
  readonly strict?: boolean;
  readonly ignore?: readonly string[];
}

const withCommonFlags = (command: Command): Command =>
  command
    .option("--v0-compatible", "read modules as OPA before 1.0 did")
    .option("--allow-net", "let policies use http.send")
    .option("--ignore <pattern>", "files and folders to leave out, such as *_test.rego; may be repeated", collect)
    .option("-S, --strict", "treat what is most likely a mistake as an error");

const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

interface EvalFlags extends CommonFlags {
  readonly data?: readonly string[];
  readonly bundle?: readonly string[];
  readonly input?: string;
  readonly stdinInput?: boolean;
  readonly format: EvalFormat;
  readonly explain?: ExplainMode;
  readonly coverage?: boolean;
  readonly strictBuiltinErrors?: boolean;
  readonly fail?: boolean;
  readonly failDefined?: boolean;
  readonly package?: string;
}

function evaluateCommand(): Command {
  const command = new Command("eval")
    .description("Evaluate a query.")
    .addArgument(new Argument("[query]", "the query, such as data.example.allow"))
    .option("-d, --data <path...>", "policy or data files, or folders of them; a.b:FILE puts a document below data.a.b")
    .option("-b, --bundle <path>", "a bundle: a folder, or an archive (.tar.gz); may be repeated", collect)
    .option("-i, --input <file>", "the input document, JSON or YAML")
    .option("-I, --stdin-input", "read the input document from standard input")
    .addOption(
      new Option("-f, --format <format>", "how to print")
        .choices(["json", "pretty", "raw", "values", "bindings", "discard"])
        .default("json"),
    )
    .addOption(new Option("--explain <mode>", "show how the answer was found").choices(["full", "fails", "notes"]))
    .option("--coverage", "report which lines were evaluated")
    .option("--strict-builtin-errors", "end at the first error of a built-in function")
    .option("--fail", "exit with 1 when the query is undefined or empty")
    .option("--fail-defined", "exit with 1 when the query is defined and not empty")
    .option("--package <name>", "the package in which the query is read")
    .addHelpText("after", "\nExamples:\n  capstan rego eval -d policy.rego -i input.json 'data.example.allow'\n");
  return withCommonFlags(command).action((given: string | undefined, flags: EvalFlags) =>
    failClearly(async () => {
      const { query, data } = queryAndData(given, flags.data ?? []);
      const { bundle = [], ignore } = flags;
      const files = reading({ format: flags.format === "json" ? "json" : "text", exitCode: 2 }, () => [
        ...readPolicyFiles(data, ignore),
        ...bundle.flatMap((path) => readBundle(path, ignore)),
      ]);
      const input = flags.stdinInput
        ? readText(0, "standard input")
        : flags.input === undefined
          ? undefined
          : readInput(flags.input);
      print(
        evalCommand({
          env: envOf(flags),
          query,
          files,
          ...common(flags),
          ...(input !== undefined && { input }),
          format: flags.format,
          ...(flags.explain && { explain: flags.explain }),
          coverage: flags.coverage ?? false,
          strictBuiltinErrors: flags.strictBuiltinErrors ?? false,
          fail: flags.fail ?? false,
          failDefined: flags.failDefined ?? false,
          ...(flags.package !== undefined && { package: flags.package }),
        }),
      );
    }),
  );
}

/** Reads files; one that is missing is reported in the words and with the exit code of `opa`. */
function reading(
  { format, exitCode }: { readonly format: "json" | "text" | "loading"; readonly exitCode: number },
  read: () => readonly PolicyFile[],
): readonly PolicyFile[] {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MissingFile)) throw error;
    const stdout =
      format === "json" ? `${JSON.stringify({ errors: [{ message: error.message }] }, undefined, 2)}\n` : "";
    const stderr = `1 error occurred${format === "loading" ? " during loading" : ""}: ${error.message}\n`;
    print({ stdout, stderr: format === "json" ? "" : stderr, exitCode });
    return process.exit(exitCode);
  }
}

const loading = { format: "loading", exitCode: 1 } as const;

/** What a test or a check is about: files and folders, or bundles. */
const readPaths = (paths: readonly string[], { bundle, ignore }: CommonFlags & BundleFlag): readonly PolicyFile[] =>
  reading(loading, () => (bundle ? paths.flatMap((path) => readBundle(path, ignore)) : readPolicyFiles(paths, ignore)));

interface BundleFlag {
  readonly bundle?: boolean;
}

/** `-d a.rego b.rego QUERY` and `-d a.rego QUERY` both mean what they look like: what is left over is the query. */
function queryAndData(
  given: string | undefined,
  data: readonly string[],
): { readonly query: string; readonly data: readonly string[] } {
  if (given !== undefined) return { query: given, data };
  const query = data.at(-1);
  if (query === undefined || existsSync(query))
    throw new Failure("there is no query: name one, such as data.example.allow");
  return { query, data: data.slice(0, -1) };
}

interface TestFlags extends CommonFlags, BundleFlag {
  readonly verbose?: boolean;
  readonly run?: string;
  readonly coverage?: boolean;
  readonly threshold?: number;
  readonly exitZeroOnSkipped?: boolean;
  readonly format: "pretty" | "json";
}

function testsCommand(): Command {
  const command = new Command("test")
    .description("Run the rules whose names begin with test_; exit with 2 when one fails.")
    .addArgument(new Argument("<path...>", "policy or data files, or folders of them"))
    .option("-v, --verbose", "show every test")
    .option("-r, --run <pattern>", "only tests whose names match")
    .option("-c, --coverage", "report coverage as JSON")
    .option("-t, --threshold <percent>", "fail below this coverage", parsePercent)
    .option("-z, --exit-zero-on-skipped", "exit with 0 although tests are skipped")
    .option("-b, --bundle", "the paths are bundles: folders or archives (.tar.gz)")
    .addOption(new Option("-f, --format <format>", "how to print").choices(["pretty", "json"]).default("pretty"))
    .addHelpText("after", "\nExamples:\n  capstan rego test -v policies/\n");
  return withCommonFlags(command).action((paths: readonly string[], flags: TestFlags) =>
    failClearly(async () =>
      print(
        testCommand({
          env: envOf(flags),
          files: readPaths(paths, flags),
          ...common(flags),
          verbose: flags.verbose ?? false,
          ...(flags.run !== undefined && { run: flags.run }),
          coverage: (flags.coverage ?? false) || flags.threshold !== undefined,
          ...(flags.threshold !== undefined && { threshold: flags.threshold }),
          exitsZeroOnSkipped: flags.exitZeroOnSkipped ?? false,
          format: flags.format,
        }),
      ),
    ),
  );
}

function checksCommand(): Command {
  const command = new Command("check")
    .description("Check that policies compile; silent when they do.")
    .addArgument(new Argument("<path...>", "policy files, or folders of them"))
    .option("-b, --bundle", "the paths are bundles: folders or archives (.tar.gz)")
    .addOption(new Option("-f, --format <format>", "how to print").choices(["pretty", "json"]).default("pretty"))
    .addHelpText("after", "\nExamples:\n  capstan rego check --strict policies/\n");
  return withCommonFlags(command).action(
    (paths: readonly string[], flags: CommonFlags & BundleFlag & { readonly format: "pretty" | "json" }) =>
      failClearly(async () =>
        print(checkCommand({ env, files: readPaths(paths, flags), ...common(flags), format: flags.format })),
      ),
  );
}

const common = ({
  v0Compatible,
  strict,
}: CommonFlags): { readonly version: "v0" | "v1"; readonly strict: boolean } => ({
  version: v0Compatible ? "v0" : "v1",
  strict: strict ?? false,
});

const env: RegoEnv = {
  nowNs: () => BigInt(systemEnv.now().getTime()) * 1_000_000n,
  monotonicMs: systemEnv.monotonicMs,
  random: systemEnv.random,
  uuid: systemEnv.uuid,
};

const envOf = ({ allowNet }: CommonFlags): RegoEnv => (allowNet ? { ...env, httpSend: synchronousHttp() } : env);

function print({ stdout, stderr, exitCode }: CommandResult): void {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = exitCode;
}

function readText(file: string | number, name: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(`${name} cannot be read: ${whyUnreadable(error)}`);
  }
}

function readInput(file: string): string {
  if (existsSync(file)) return readText(file, file);
  print({ stdout: "", stderr: `open ${file}: no such file or directory\n`, exitCode: 2 });
  return process.exit(2);
}

function parsePercent(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 100)) throw new InvalidArgumentError("A percentage is a number from 0 to 100.");
  return value;
}
