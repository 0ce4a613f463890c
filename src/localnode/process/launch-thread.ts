import { startModule } from "../../env/threads.ts";
import type { LaunchEvents, Launched } from "./launch.ts";
import type { PreparedContainer } from "./prepare.ts";

/**
 * Starts one of our own programs as a thread, which takes a quarter of the memory that a process of its own would. It has its
 * own heap, variables and output, and is ended like a process: asked by a message instead of SIGTERM, then by force.
 */
export function launchThread(module: string, { command, variables }: PreparedContainer, tell: LaunchEvents): Launched {
  const thread = startModule(module, {
    // Without the name of the program: what comes before the arguments is Node's own.
    argv: command.slice(1),
    env: { ...variables },
    stdout: true,
    stderr: true,
    resourceLimits: small,
  });
  let isKilled = false;
  let crash: Error | undefined;
  for (const name of ["stdout", "stderr"] as const) {
    thread[name].setEncoding("utf8").on("data", (chunk: string) => tell.output(name, chunk));
  }
  thread.on("error", (error: Error) => {
    crash = error;
    tell.output("stderr", `${error.stack ?? error.message}\n`);
  });
  thread.on("exit", (code) => {
    if (isKilled) tell.exited(null, "SIGKILL");
    else tell.exited(crash === undefined ? code : Math.max(code, 1), null);
    tell.closed();
  });
  return {
    signal(signal) {
      if (signal === "SIGTERM") return thread.postMessage(signal);
      isKilled = true;
      void thread.terminate();
    },
  };
}

/** A heap that grows past this ends the thread and nothing else. */
const small = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 64 };
