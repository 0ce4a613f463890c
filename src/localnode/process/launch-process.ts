import { spawn } from "node:child_process";
import type { LaunchEvents, Launched } from "./launch.ts";
import type { PreparedContainer } from "./prepare.ts";
import { signalGroup } from "./process-group.ts";

/** Starts a process in a group of its own. */
export function launchProcess({ command, cwd, variables }: PreparedContainer, tell: LaunchEvents): Launched {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd,
    env: { ...variables },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => tell.output(name, chunk));
  }
  child.on("error", (error) => {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = isMissing ? `exec: ${JSON.stringify(file)}: executable file not found in $PATH` : error.message;
    if (child.pid === undefined) tell.notStarted(message);
  });
  const { pid } = child;
  if (pid === undefined) return { signal: () => undefined };
  child.on("exit", (code, signal) => {
    // What the leader leaves behind in its group must not go on, and must not hold its output open.
    signalGroup(pid, "SIGKILL");
    tell.exited(code, signal);
  });
  child.on("close", () => tell.closed());
  return { pid, signal: (signal) => signalGroup(pid, signal) };
}
