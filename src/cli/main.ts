import { createProgram } from "./program.ts";

/** The entry of the bundle: the only place that touches the process. */
// Whoever reads only the first lines closes the pipe; that is no fault of anybody's.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});
await createProgram().parseAsync(process.argv);
