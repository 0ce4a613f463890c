import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Signals to whole process groups: a program must not outlive its pod in its children. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Gone already, which is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH" && (error as NodeJS.ErrnoException).code !== "EPERM")
      throw error;
  }
}

/** When a process began, in a form that tells it from a later one with the same number; undefined when there is none. */
export function processBirth(pid: number): string | undefined {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The name in brackets may contain anything, so fields are counted from its end.
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    } catch {
      return undefined;
    }
  }
  const { stdout, status } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    timeout: 2_000,
  });
  return status === 0 && stdout.trim() !== "" ? stdout.trim() : undefined;
}
