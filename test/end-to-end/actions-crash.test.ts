import { test } from "node:test";
import { crashMatrix } from "./actions-crash.ts";

test(
  "F19, F20, F29: killed at every write, an execution has one Job, one effect and a whole trail",
  {
    timeout: 300_000,
  },
  (context) => crashMatrix(context, { approved: false }),
);
