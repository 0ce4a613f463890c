import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { systemEnv } from "../../src/env/system.ts";
import { textReply } from "../../src/http/reply.ts";
import { listen } from "../../src/http/server.ts";
import { openAccess } from "../../src/registry/access/access.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { MemoryLog } from "../../src/registry/storage/memory-log.ts";

test("the tool registers itself, answers, says goodbye, and comes back with its id", {
  timeout: 180_000,
}, async (context) => {
  const storage = new MemoryLog(() => systemEnv.now().getTime()).replica();
  const registry = createRegistry({ env: systemEnv, storage, access: openAccess });
  await registry.start();
  const listener = await listen({
    env: systemEnv,
    port: 0,
    handler: async (request) => (await registry.handle(request)) ?? textReply(404, ""),
  });
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-tool-"));
  const running = new Set<ChildProcessByStdio<null, Readable, null>>();
  context.after(async () => {
    for (const child of running) child.kill("SIGKILL");
    await listener.close();
    await registry.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const life = async (): Promise<string> => {
    const program = join(import.meta.dirname, "tool.ts");
    const child = spawn(process.execPath, [program, listener.url, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
    running.add(child);
    const exited = once(child, "exit");
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const id = /^forecast-tool is registered as (.{36})$/.exec(line)?.[1] ?? "";
    const found = registry.resolve({ serviceName: "forecast-tool", serviceType: "tool-invoker" });
    assert.equal(found?.id, id);
    assert.equal(await (await fetch(`http://${found.host}:${found.port}/`)).text(), "forecast: sunny\n");
    child.kill("SIGTERM");
    await exited;
    assert.equal(registry.resolve({ serviceName: "forecast-tool" }), undefined);
    return id;
  };
  const id = await life();
  assert.equal(await life(), id);
});
