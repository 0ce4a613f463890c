import { test } from "node:test";
import { conversations } from "../../src/registry/dialects/exchanges.ts";
import { replay } from "../../src/registry/dialects/replay-for-tests.ts";
import { startUp } from "./capstan-up.ts";

test("recorded exchanges of every dialect, said to `capstan up`", { timeout: 600_000 }, async (context) => {
  for (const conversation of conversations)
    await context.test(conversation.name, async (inner) => {
      const { http } = await startUp(inner);
      await replay(conversation, Number(new URL(http).port));
    });
});
