import { test } from "node:test";
import { crashMatrix } from "./actions-crash.ts";

test(
  "F19, F20, F29: killed at every write of a run that somebody must approve: nothing before the word, and once after it",
  {
    timeout: 600_000,
  },
  (context) => crashMatrix(context, { approved: true }),
);
