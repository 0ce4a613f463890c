import { reportBug } from "./failure.ts";
import { createProgram } from "./program.ts";

/** The entry of the bundle: the only place that touches the process. Node itself would print the line of the bundle, which is long. */
process.on("uncaughtException", (error) => {
  reportBug(error);
  process.exit();
});
// Whoever reads only the first lines closes the pipe; that is no fault of anybody's.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});
await createProgram().parseAsync(process.argv);
