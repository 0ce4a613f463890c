import { describe, test } from "node:test";
import { textReply } from "../../http/reply.ts";
import { listen } from "../../http/server.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import { openAccess } from "../access/access.ts";
import { createRegistry } from "../registry.ts";
import { MemoryLog } from "../storage/memory-log.ts";
import { conversations } from "./exchanges.ts";
import { replay } from "./replay-for-tests.ts";

// test/registry/exchanges.machine.ts says the same to `capstan up`.
describe("recorded exchanges, on the product's listener", () => {
  for (const conversation of conversations)
    test(conversation.name, async () => {
      const env = manualEnv();
      const storage = new MemoryLog(() => env.now().getTime()).replica();
      const registry = createRegistry({ env, storage, access: openAccess });
      await registry.start();
      const handler = async (request: Parameters<typeof registry.handle>[0]) =>
        (await registry.handle(request)) ?? textReply(404, "");
      const listener = await listen({ env, handler, port: 0 });
      try {
        await replay(conversation, listener.port);
      } finally {
        await listener.close();
        await registry.stop();
      }
    });
});
