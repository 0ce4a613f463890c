import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { bundleRegistryClient } from "../../scripts/registry-client.ts";
import { systemEnv } from "../../src/env/system.ts";
import { textReply } from "../../src/http/reply.ts";
import { type Listener, listen } from "../../src/http/server.ts";
import type { Access } from "../../src/registry/access/access.ts";
import type { Registry } from "../../src/registry/registry.ts";
import { type RegistryWorld, registryWorld } from "../../src/registry/registry-for-tests.ts";
import { eventually } from "../end-to-end/embedded.ts";
import { openPage, startBrowser, withoutChromium } from "./browser.ts";

const alice = { name: "alice", namespace: null, isAdministrator: false };
const tokens: Access = {
  kind: "Bearer",
  authenticators: [{ authenticate: async (token) => (token === "secret" ? alice : undefined) }],
};
const target = { serviceName: "page", host: "127.0.0.1", port: 1, serviceType: "tool-invoker" };

/** The client's build for pages in a real page of another origin, which the registry has to allow by name. */
describe("the registry's client in Chromium", { skip: withoutChromium, timeout: 600_000 }, () => {
  test("registers with a token, sends heartbeats, reports trouble, keeps its id, and says goodbye when the page is left", async (context) => {
    const { page, origin, complaints } = await pageWithClient(context);
    const world = await registryWorld(systemEnv, { access: tokens, allowedOrigins: [origin] });
    const registry = await serve(context, world);
    const health = (): string | undefined =>
      [...world.registry.core.directory.entries()].find(({ instance }) => instance.presence.kind === "Registered")
        ?.instance.report;
    const start = (): Promise<string> =>
      page.evaluate(
        `(async () => {
          const { createRegistrationManager, deregisterOnPageHide, storedId } = await import("/client.js");
          const target = ${JSON.stringify(target)};
          window.heard = [];
          window.manager = createRegistrationManager({ url: ${JSON.stringify(registry.url)}, target, pingIntervalMs: 100,
            token: async () => "secret", idStore: storedId(localStorage, target.serviceName) });
          manager.addCallBack({ onPing: (_manager, _target, status) => heard.push(status) });
          deregisterOnPageHide(manager, window);
          await manager.start();
          return manager.target.id;
        })()`,
      );
    const id = await start();
    assert.match(id, /^[0-9a-f-]{36}$/);
    await page.waitForFunction("heard.length >= 3 && heard.every((status) => status === 200)");
    assert.equal(health(), "HEALTHY");
    await page.evaluate("manager.lastAsFail('out of paper')");
    assert.equal(health(), "UNHEALTHY");
    await page.evaluate("manager.lastAsSuccessful()");
    assert.equal(health(), "HEALTHY");
    await page.goto(`${origin}/elsewhere`);
    await eventually(
      async () => health(),
      (after) => assert.equal(after, undefined),
    );
    await page.goto(origin);
    assert.equal(await start(), id, "the id was kept by the browser");
    await page.close({ runBeforeUnload: false });
    await eventually(
      async () => health(),
      (after) => assert.equal(after, undefined),
    );
    assert.deepEqual(complaints, []);
  });

  test("a page of another origin that is not named gets nothing", async (context) => {
    const { page } = await pageWithClient(context);
    const world = await registryWorld(systemEnv);
    const registry = await serve(context, world);
    const failed = await page.evaluate(
      `(async () => {
        const { createRegistrationManager } = await import("/client.js");
        const manager = createRegistrationManager({ url: ${JSON.stringify(registry.url)}, target: ${JSON.stringify(target)}, maxAttempts: 1 });
        return manager.register().then(() => "registered", (error) => error.message);
      })()`,
    );
    assert.match(String(failed), /could not be registered in 1 attempts/);
    assert.deepEqual(await world.names(), []);
  });

  test("EventSource goes on where it was when the connection is cut: every change once, in order", async (context) => {
    const { page, origin } = await pageWithClient(context);
    const world = await registryWorld(systemEnv, { allowedOrigins: [origin] });
    const first = await serve(context, world);
    await page.evaluate(
      `new Promise((resolve) => {
        window.seen = [];
        const source = new EventSource(${JSON.stringify(`${first.url}/api/v1/capabilities/notifications?resume=true`)});
        source.addEventListener("REGISTER", ({ data, lastEventId }) => seen.push([JSON.parse(data).serviceTarget.port, Number(lastEventId)]));
        source.addEventListener("open", resolve);
      })`,
    );
    const register = async (from: number, to: number): Promise<void> => {
      for (let port = from; port <= to; port++) await world.register({ port });
    };
    await register(1, 20);
    await page.waitForFunction("seen.length === 20");
    await first.close();
    await register(21, 40);
    await serve(context, world, first.port);
    await register(41, 60);
    await page.waitForFunction("seen.length >= 60");
    const seen = await page.evaluate("seen");
    assert.deepEqual(
      seen,
      Array.from({ length: 60 }, (_, index) => [index + 1, index + 1]),
    );
  });
});

/** A page of its own origin that has the client beside it. */
async function pageWithClient(
  context: TestContext,
): Promise<{ readonly page: Page; readonly origin: string; readonly complaints: string[] }> {
  const { code } = await bundleRegistryClient();
  const html = '<!doctype html><title>a page</title><link rel="icon" href="data:,">';
  const listener = await listen({
    env: systemEnv,
    port: 0,
    drainMs: 500,
    handler: ({ target: path }) =>
      path === "/client.js"
        ? textReply(200, code, { "content-type": "text/javascript" })
        : textReply(200, html, { "content-type": "text/html" }),
  });
  context.after(() => listener.close());
  const { page, complaints } = await openPage(await startBrowser(context));
  await page.goto(listener.url);
  return { page, origin: listener.url, complaints };
}

async function serve(
  context: TestContext,
  { registry }: Pick<RegistryWorld<typeof systemEnv>, "registry">,
  port = 0,
): Promise<Listener> {
  const listener = await listen({ env: systemEnv, port, drainMs: 500, handler: answerOf(registry) });
  context.after(() => listener.close());
  return listener;
}

const answerOf =
  (registry: Registry): Parameters<typeof listen>[0]["handler"] =>
  async (request) =>
    (await registry.handle(request)) ?? textReply(404, "");
