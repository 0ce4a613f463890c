import { createProgram } from "./program.ts";

/** The entry of the bundle: the only place that touches the process. */
await createProgram().parseAsync(process.argv);
