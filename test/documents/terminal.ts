import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { createProgram } from "../../src/cli/program.ts";

/** A reader's terminal, in a folder that looks like a checkout whose `.capstan` is the running control plane's. */
export interface Terminal {
  readonly folder: string;
  type(command: string): Promise<Typed>;
  /** Ends what still runs, as Ctrl-C would; answers what did not end well. */
  interruptAll(): Promise<readonly string[]>;
}

export interface Typed {
  readonly code: number;
  readonly output: string;
}

export const hasBash: boolean = spawnSync("bash", ["-c", "exit 0"]).status === 0;
export const hasCurl: boolean = spawnSync("curl", ["--version"]).status === 0;
export const hasKubectl: boolean = spawnSync("kubectl", ["version", "--client"]).status === 0;

const root = resolve(import.meta.dirname, "../..");

export function openTerminal(context: TestContext, dataDir?: string): Terminal {
  const folder = mkdtempSync(join(tmpdir(), "capstan-documents-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  if (dataDir !== undefined) symlinkSync(dataDir, join(folder, ".capstan"));
  for (const name of ["examples", "deploy"]) symlinkSync(join(root, name), join(folder, name));
  const programs = join(folder, ".programs");
  mkdirSync(programs);
  const entry = join(root, "src", "cli", "main.ts");
  writeProgram(join(programs, "capstan"), `exec "${process.execPath}" "${entry}" "$@"`);
  writeProgram(join(programs, "npx"), '[ "$1" = capstan ] || exit 127; shift; exec capstan "$@"');
  const environment: Record<string, string> = { ...(process.env as Record<string, string>) };
  // What the machine of the test has set must not decide what a reader sees.
  for (const name of Object.keys(environment)) if (/^(KUBECONFIG|CAPSTAN_)/.test(name)) delete environment[name];
  environment["PATH"] = [programs, join(root, "node_modules", ".bin"), environment["PATH"]].join(delimiter);
  const lasting: { readonly command: string; readonly child: ChildProcess }[] = [];

  return {
    folder,
    async type(command) {
      const variable = /^export (\w+)=(\S+)$/.exec(command);
      if (variable) {
        environment[variable[1] ?? ""] = (variable[2] ?? "").replace("$PWD", folder);
        return { code: 0, output: "" };
      }
      const own = /^(?:npx )?capstan ([^|<>&;$'"]*)$/.exec(command);
      if (own && !isLasting(command)) return runHere((own[1] ?? "").trim().split(/\s+/), folder, environment);
      const child = spawn("bash", ["-c", `set -o pipefail; ${isLasting(command) ? "exec " : ""}${command}`], {
        cwd: folder,
        env: environment,
        stdio: ["ignore", "pipe", "pipe"],
      });
      if (!isLasting(command)) return ended(child);
      lasting.push({ command, child });
      return new Promise((answer) => {
        child.stdout?.once("data", (chunk: Buffer) => answer({ code: 0, output: chunk.toString("utf8") }));
        void ended(child).then(answer);
      });
    },
    async interruptAll() {
      const problems: string[] = [];
      for (const { command, child } of lasting.splice(0)) {
        const closed = ended(child);
        child.kill("SIGINT");
        const { code, output } = await closed;
        if (code !== 0) problems.push(`${command}: ended with ${code} after Ctrl-C\n${output}`);
      }
      return problems;
    },
  };
}

/** Commands that run until they are stopped. */
const isLasting = (command: string): boolean =>
  /services watch|own-controller\/main\.ts|registry\/tool\.ts/.test(command);

/** In this process, because starting another one from the sources takes a second each. */
async function runHere(words: readonly string[], folder: string, environment: Record<string, string>): Promise<Typed> {
  const before = {
    folder: process.cwd(),
    environment: process.env,
    write: process.stdout.write,
    error: process.stderr.write,
  };
  let output = "";
  const take = (chunk: string | Uint8Array): boolean => {
    output += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    return true;
  };
  process.chdir(folder);
  process.env = environment;
  process.stdout.write = take as typeof process.stdout.write;
  process.stderr.write = take as typeof process.stderr.write;
  try {
    const program = createProgram().exitOverride();
    for (const command of program.commands) command.exitOverride();
    await program.parseAsync(["node", "capstan", ...words]);
    return { code: Number(process.exitCode ?? 0), output };
  } catch (error) {
    return { code: (error as { readonly exitCode?: number }).exitCode ?? 70, output: output + String(error) };
  } finally {
    process.exitCode = undefined;
    process.stdout.write = before.write;
    process.stderr.write = before.error;
    process.env = before.environment;
    process.chdir(before.folder);
  }
}

function ended(child: ChildProcess): Promise<Typed> {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  return new Promise((answer) => {
    if (child.exitCode !== null) answer({ code: child.exitCode, output });
    child.once("close", (code) => answer({ code: code ?? 128, output }));
  });
}

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}
