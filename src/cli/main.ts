import { reportBug } from "./failure.ts";
import { createProgram } from "./program.ts";

/** The entry of the bundle: the only place that touches the process. Node itself would print the line of the bundle, which is long. */
process.on("uncaughtException", (error) => {
  reportBug(error);
  process.exit();
});
await createProgram().parseAsync(process.argv);
