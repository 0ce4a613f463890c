import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { systemEnv } from "../env/system.ts";
import { createLogger } from "../runtime/log.ts";
import { createManager } from "../runtime/manager.ts";
import { createWorld } from "../testing/world.ts";
import { startDebug } from "./debug.ts";

test("whoever is on this machine sees the state of the runtime, and a page of another host does not", async (context) => {
  const world = createWorld();
  const manager = createManager({ env: world.env, client: world.client });
  const lines: string[] = [];
  const log = createLogger({
    env: systemEnv,
    level: "warn",
    format: "json",
    writeLine: (line) => void lines.push(line),
  });
  const debug = await startDebug({ env: systemEnv, log, manager, port: 0 });
  context.after(() => debug.stop());
  const url = /http:\/\/127\.0\.0\.1:\d+\/debug\//.exec(lines.join())?.[0] ?? "";
  const ask = (path: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { headers, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on("error", reject);
      sent.end();
    });
  assert.equal(await ask("runtime"), 200);
  assert.equal(await ask("memory"), 200);
  assert.equal(await ask("else"), 404);
  assert.equal(await ask("runtime", { host: "rebound.example" }), 403);
});
